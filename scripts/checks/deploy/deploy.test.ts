import { expect, test } from "vitest";
import { type Container, disagreements, servicesLeftOut } from "./agreement.ts";
import { composeContainers, composeFaults, manifestContainers } from "./containers.ts";

const features: Container = {
  name: "features",
  image: "services:1.0.0",
  args: ["features"],
  environment: { FEATURES_STORE_URL: "memory:", LOG_LEVEL: "info" },
  ports: [8080],
  missing: [],
};

test.each<[string, Partial<Container>, string[]]>([
  ["agrees", {}, []],
  ["keeps a value secret", { environment: { FEATURES_STORE_URL: null } }, []],
  ["follows its port", { environment: { FEATURES_PORT: "8081" }, ports: [8081] }, []],
  ["runs something else", { args: ["sh"] }, ["its arguments are sh, not one of ledger, features"]],
  [
    "is of another version",
    { image: "services:latest" },
    ["its image is services:latest, not services:1.0.0"],
  ],
  ["sets what is no setting", { environment: { STORE: "1" } }, ["features knows no setting STORE"]],
  [
    "sets what cannot be",
    { environment: { FEATURES_PORT: "x" } },
    [expect.stringContaining("FEATURES_PORT must")],
  ],
  ["names another port", { ports: [80] }, ["port 80 is named, but features listens at 8080"]],
  ["is never asked", { missing: ["livenessProbe"] }, ["it has no livenessProbe"]],
])("a container that %s", (_name, change, faults) => {
  expect(disagreements({ ...features, ...change }, "services:1.0.0")).toEqual(faults);
});

test("a service that nothing runs is told", () => {
  expect(servicesLeftOut([features])).toEqual(["ledger"]);
});

test("what of a compose file leads nowhere is told", () => {
  const volumes = [
    { type: "volume", source: "data" },
    { type: "volume", source: "dta" },
    { type: "tmpfs", source: "" },
  ];
  const model = { services: { a: { depends_on: { b: {}, c: {} } }, b: { volumes } }, volumes: { data: {} } };
  expect(composeFaults(JSON.stringify(model))).toEqual([
    "a depends on c, which is no service",
    "b mounts dta, which is no volume",
  ]);
});

test("the containers of a compose file are those that it builds", () => {
  const model = {
    services: {
      features: {
        image: "services:1.0.0",
        build: {},
        command: ["features"],
        ports: [{ target: 8080 }],
        healthcheck: { test: ["CMD", "node", "--eval", 'fetch("http://127.0.0.1:8081/")'] },
      },
      redis: { image: "redis" },
    },
  };
  expect(composeContainers(JSON.stringify(model))).toEqual([
    { ...features, environment: {}, ports: [8080, 8081], missing: [] },
  ]);
});

test("the containers of manifests have the settings of their maps, and secrets", () => {
  const manifests = `
kind: ConfigMap
metadata: { name: common }
data: { LOG_LEVEL: debug }
---
kind: Deployment
metadata: { name: features }
spec:
  template:
    spec:
      containers:
        - name: features
          image: services:1.0.0
          args: [features]
          envFrom: [{ configMapRef: { name: common } }]
          env:
            - { name: HOST, value: "::" }
            - { name: FEATURES_STORE_URL, valueFrom: { secretKeyRef: { name: features, key: store-url } } }
          ports: [{ containerPort: 8080 }]
          livenessProbe: {}
`;
  expect(manifestContainers(manifests)).toEqual([
    {
      ...features,
      environment: { LOG_LEVEL: "debug", HOST: "::", FEATURES_STORE_URL: null },
      missing: ["startupProbe", "readinessProbe", "enableServiceLinks: false"],
    },
  ]);
});
