import { openConsole } from "../page.tsx";
import { Feature } from "./feature.tsx";
import { readScopes } from "./features.ts";
import { Resource } from "./resource.tsx";
import { Start } from "./start.tsx";

openConsole("Feature storage", [
  { name: "", title: "Features", link: "Features", scopes: readScopes, component: Start },
  { name: "resources", title: "Resource", scopes: readScopes, component: Resource },
  { name: "features", title: "Feature", scopes: readScopes, component: Feature },
]);
