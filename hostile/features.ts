import type { Subject } from "./subject.ts";

export const featureSubjects: Subject[] = [];
