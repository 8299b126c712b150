import { featureFragment, resourceFragment } from "./client.ts";

/** A name that somebody has given, whatever its direction. Spaces at its ends are shown, since they make it another name. */
export const Name = ({ children }: { children: string }) => (
  <bdi>{children.replaceAll(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length))}</bdi>
);

/** The same in a text without elements, between characters that isolate its direction. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

export const KindLink = ({ resource }: { resource: string }) => (
  <a href={featureFragment(resource)}>
    <Name>{resource}</Name>
  </a>
);

/** The way from the start to the pages of a kind, or of a resource or a feature of it. */
export const Trail = ({ resource }: { resource?: string }) => (
  <nav class="trail" aria-label="Trail">
    <a href="#/">Features</a> / {resource !== undefined && <KindLink resource={resource} />}
  </nav>
);

export const FeatureLink = ({ resource, feature }: { resource: string; feature: string }) => (
  <a href={featureFragment(resource, feature)}>
    <Name>{feature}</Name>
  </a>
);

export const ResourceLink = ({ resource, id }: { resource: string; id: string }) => (
  <a href={resourceFragment(resource, id)}>
    <Name>{resource}</Name> <Name>{id}</Name>
  </a>
);
