-- Sends the requests of a file, in order and repeatedly. A line is METHOD PATH or METHOD PATH JSON.
-- Prints "REQUESTS_PER_SECOND FAILURES".
local requests = {}
local position = 0

function init(args)
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^(%u+) (%S+) ?(.*)$")
    local headers = body ~= "" and { ["content-type"] = "application/json" } or nil
    requests[#requests + 1] = wrk.format(method, path, headers, body ~= "" and body or nil)
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("%f %d\n", summary.requests * 1e6 / summary.duration, failures))
end
