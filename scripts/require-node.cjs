// Preloaded by npm scripts. Ends with one sentence on a Node.js that cannot run TypeScript, whose own error would not
// name the cause. Written for any version.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `Node.js 24 or newer is required; this is ${process.version}. ` +
      "On Linux (x64 and arm64) npm ci installs it with the packages; on other systems install it from nodejs.org.\n",
  );
  process.exit(1);
}
