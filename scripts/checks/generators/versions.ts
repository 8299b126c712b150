/** The exact versions of the generators and of the packages that the generated code and the programs need. */
export const versions = {
  npm: [
    "@hey-api/openapi-ts@0.99.0",
    "axios@1.21.1", // for orval
    "openapi-fetch@0.17.0",
    "openapi-typescript@7.13.0",
    "orval@8.38.0",
  ],
  python: [
    "openapi-generator-cli==7.26.0", // contains the Java program
    "openapi-python-client==0.29.1",
    "ruff==0.15.22", // rewrites the Python of openapi-python-client; 0.17 gives it wrong types
    "mypy==2.4.1",
    // for the Python of openapi-generator
    "pydantic==2.14.3",
    "python-dateutil==2.9.0.post0",
    "types-python-dateutil==2.9.0.20261116",
    "typing-extensions==4.16.0",
    "urllib3==2.8.0",
  ],
  oapiCodegen: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2",
  oapiCodegenRuntime: "github.com/oapi-codegen/runtime@v1.8.0",
  // For the Go that openapi-generator generates. Its Java names its own dependencies.
  goValidator: "gopkg.in/validator.v2@v2.0.1",
  // Reads the contract of what is sent, in a test.
  asyncapiParser: ["@asyncapi/parser@3.6.6"],
  // For the receivers of webhooks. That of TypeScript has the package of package.json.
  pythonStandardWebhooks: ["standardwebhooks==1.1.0"],
  // For the transparency log: programs of others that verify it, and a witness.
  tesseraFsck: "github.com/transparency-dev/tessera/cmd/fsck@v1.0.4",
  litewitness: ["filippo.io/torchwood/cmd/litewitness@v0.9.0", "filippo.io/torchwood/cmd/witnessctl@v0.9.0"],
  goMod: "golang.org/x/mod@v0.43.0",
  pythonCryptography: ["cryptography==50.0.2"],
  goStandardWebhooks: "github.com/standard-webhooks/standard-webhooks/libraries/go@v0.0.1",
};
