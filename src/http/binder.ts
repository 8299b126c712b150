import { Validator } from "@seriousme/openapi-schema-validator";

export { fastifyOpenapiGlue } from "fastify-openapi-glue";

// The binder would validate each contract against the schema of OpenAPI, which takes longer than the rest of a start.
// Codegen has validated it. References are still resolved here.
Object.assign(Validator.prototype, { getAjvValidator: () => () => true });
