import { openConsole } from "../console.tsx";
import { readScopes as scopes } from "./client.ts";
import { Feature } from "./feature.tsx";
import { Resource } from "./resource.tsx";
import { Start } from "./start.tsx";

openConsole([
  { name: "", title: "Features", isLinked: true, scopes, component: Start },
  { name: "resources", title: "Resource", scopes, component: Resource },
  { name: "features", title: "Feature", scopes, component: Feature },
]);
