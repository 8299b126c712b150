import { expect, test } from "vitest";
import { type Container, disagreements, missingServices } from "./agreement.ts";
import { composeContainers, composeFaults, manifestContainers } from "./containers.ts";

const features: Container = {
  name: "features",
  image: "services:1.0.0",
  args: ["features"],
  environment: { FEATURES_STORE_URL: "memory:", LOG_LEVEL: "info", TRUSTED_PROXIES: "uniquelocal" },
  ports: [8080],
  missing: [],
};

const image = "services:1.0.0";
test.each<[change: Partial<Container>, faults: string[]]>([
  [{}, []],
  [{ environment: { FEATURES_STORE_URL: null } }, []],
  [{ environment: { FEATURES_PORT: "8081" }, ports: [8081] }, []],
  [{ args: ["sh"] }, ["its arguments are sh; expected one of ledger, features"]],
  [{ image: "services:latest" }, [`its image is services:latest; expected ${image}`]],
  [{ environment: { STORE: "1" } }, ["features has no setting STORE"]],
  [{ environment: { FEATURES_PORT: "x" } }, [expect.stringContaining("FEATURES_PORT must")]],
  [{ ports: [80] }, ["its port is 80, but features listens on 8080"]],
  [{ missing: ["livenessProbe"] }, ["it has no livenessProbe"]],
])("a container with %j disagrees with its service: %j", (change, faults) => {
  expect(disagreements({ ...features, ...change }, image)).toEqual(faults);
});

test("a service that no container runs is reported", () => {
  expect(missingServices([features])).toEqual(["ledger"]);
});

test("undefined services and volumes of a compose file are reported", () => {
  const volumes = [
    { type: "volume", source: "data" },
    { type: "volume", source: "dta" },
    { type: "tmpfs", source: "" },
  ];
  const model = { services: { a: { depends_on: { b: {}, c: {} } }, b: { volumes } }, volumes: { data: {} } };
  expect(composeFaults(JSON.stringify(model))).toEqual([
    "a depends on c, which is not a service of the file",
    "b mounts dta, which is not a volume of the file",
  ]);
});

test("the containers of a compose file are the ones with a build", () => {
  const own = {
    ...{ image, build: {}, command: ["features"], ports: [{ target: 8080 }] },
    healthcheck: { test: ["CMD", "node", "--eval", 'fetch("http://127.0.0.1:8081/")'] },
  };
  const model = { services: { features: own, redis: { image: "redis" } } };
  expect(composeContainers(JSON.stringify(model))).toEqual([
    { ...features, environment: {}, ports: [8080, 8081], missing: [] },
  ]);
});

test("the containers of manifests have the settings of their ConfigMaps, and secrets", () => {
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
