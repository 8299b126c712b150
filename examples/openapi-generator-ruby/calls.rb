require "date"
require "erb"
require "json"
require "securerandom"
require "features"
require "ledger"

# The generated code escapes the names in a path with CGI.escape, which writes a space as `+`.
def CGI.escape(text) = ERB::Util.url_encode(text)

# Prints what a step got: the members of models, and the text of instants.
def show(step, value) = puts("#{step} #{JSON.generate(shown(value))}")

def shown(value)
  case value
  when Array then value.map { |one| shown(one) }
  when Hash then value.transform_values { |one| shown(one) }
  when Time then value.iso8601(3)
  else value.respond_to?(:to_hash) ? shown(value.to_hash) : value
  end
end

def client_of(package, url)
  configuration = package::Configuration.new
  configuration.host = url
  # By default a list is sent as `account_id[0]`.
  configuration.params_encoding = :multi
  package::ApiClient.new(configuration)
end

def call_ledger(url)
  client = client_of(Ledger, url)
  transactions, events = Ledger::TransactionsApi.new(client), Ledger::EventsApi.new(client)
  begin
    events.get_event(9_007_199_254_740_991)
  rescue Ledger::ApiError => error
    show("missing", JSON.parse(error.response_body))
  end
  found = transactions.search_transactions(
    account_id: ["demo", "plain"],
    payment_states: [Ledger::Status::SUCCESS, Ledger::Status::ERROR],
    refund_states: [Ledger::Status::SUCCESS, Ledger::Status::SUBMITTED],
    dispute_states: [Ledger::Status::NEEDS_RESPONSE],
    from_date: Time.utc(2024, 3, 1).iso8601,
    limit_total: true
  )
  show("found", found)
  show("kinds", found.results.map { |view| view.class.name.split("::").last })
  march = [Date.new(2024, 3, 1), Date.new(2024, 3, 31)]
  show("accounts", Ledger::ReportsApi.new(client).list_gateway_performance(*march))
  agreements = Ledger::AgreementsApi.new(client)
  show("agreement", agreements.get_agreement("demo-agreement", account_id: "demo", x_consistent: true))
  show("agreements", agreements.search_agreements(account_id: ["demo", "plain"]))

  message = Ledger::EventMessage.new(
    event_type: "PAYMENT_CREATED",
    resource_type: Ledger::ResourceType::PAYMENT_RESOURCE,
    resource_external_id: SecureRandom.uuid,
    timestamp: Time.utc(2024, 3, 5, 9, 14, 22).iso8601,
    event_details: Ledger::EventDetails.new(gateway_account_id: "added", amount: 4250)
  )
  data, status = events.add_events_with_http_info(message)
  show("added", [status, data])
  show("stored", transactions.get_transaction(message.resource_external_id, account_id: "added"))
  show("again", events.add_events([message]))
end

def call_features(url)
  client = client_of(Features, url)
  storage, bulk = Features::FeaturesApi.new(client), Features::ChangesApi.new(client)
  customer = SecureRandom.uuid
  expires_at = "2037-03-05T09:14:22.018Z"
  data, status = storage.add_feature_with_http_info("customer", customer, "zebra ü", expires_at: expires_at)
  show("feature", [status, data])
  begin
    storage.add_feature("customer", customer, "late", expires_at: "2001-01-01T00:00:00Z")
  rescue Features::ApiError => error
    show("late", [error.code, error.response_body])
  end

  changes = ["mango", "apple", "apple"].map do |name|
    Features::FeatureChange.new(type: "add", resource: "customer", id: customer, feature: name)
  end
  show("changed", bulk.change_features(Features::FeatureChanges.new(changes: changes)))
  listed, _status, headers = storage.list_features_with_http_info("customer", customer)
  show("listed", listed)
  show("replaced", storage.replace_features("customer", customer, headers["etag"], ["yak", "mango", "bee"]))
  context = Features::EvaluationContext.new(targeting_key: "customer/#{customer}")
  request = Features::EvaluationRequest.new(context: context)
  show("flag", Features::FlagsApi.new(client).evaluate_flag("bee", request))
  show("removed", storage.remove_feature_with_http_info("customer", customer, "bee")[1])
  records = bulk.list_changes(limit: 1000).changes.select { |record| record.id == customer }
  show("records", [records.first, records.last])
end

call_ledger(ARGV[0])
call_features(ARGV[1])
