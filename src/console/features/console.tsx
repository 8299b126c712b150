import { openConsole } from "../page.tsx";

openConsole([]);
