import { type Column, Copied, Facts, RawJson, Table, Text, Time } from "../elements.tsx";
import { formatCount, formatName } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { Heading } from "../view.tsx";
import { type Agreement, cursorIn, useClient } from "./client.ts";
import { describeEvent } from "./event-words.ts";
import { agreementLink } from "./links.ts";
import { NothingFound } from "./nothing-found.tsx";
import { cardText } from "./payer.ts";
import { useAccounts, useReadOne, useSelection } from "./selection.ts";
import { State } from "./state.tsx";
import { FoundTransactions } from "./transactions.tsx";

/** `#/agreements` is the list, `#/agreements/ID` an agreement. */
export const Agreements = (place: Place) =>
  place.path.length > 1 ? <AgreementView {...place} key={place.path[1]} /> : <AgreementList {...place} />;

function AgreementList(place: Place) {
  const client = useClient();
  const accounts = useAccounts();
  const { live } = useSelection();
  const cursor = place.parameters.get("cursor") ?? undefined;
  const scope = "account_id" in accounts ? accounts : { override_account_or_service_id_restriction: true };
  const agreements = useKept(`agreements ${cursor} ${JSON.stringify([scope, live])}`, (signal) =>
    client.searchAgreements({ ...scope, live, cursor, extended: true }, { signal }),
  );
  return (
    <>
      <Heading>Agreements</Heading>
      <Show of={agreements} name="agreements">
        {({ results, total, _links }) =>
          results.length === 0 ? (
            <NothingFound thing="agreement" path={["agreements"]} />
          ) : (
            <>
              <p role="status">
                {formatCount(total)} {total === 1 ? "agreement" : "agreements"}
              </p>
              <Table
                hasLinks
                label="Agreements"
                columns={columns}
                rows={results}
                keyOf={({ external_id, service_id }) => `${service_id} ${external_id}`}
              />
              <Pagination {...place} next={cursorIn(_links)} />
            </>
          )
        }
      </Show>
    </>
  );
}

const cardOf = ({ payment_instrument }: Agreement): string => {
  const card = payment_instrument?.card_details ?? undefined;
  return [cardText(card), card?.expiry_date].filter(Boolean).join(" ");
};

const columns: Column<Agreement>[] = [
  { name: "Created", class: "short", cell: ({ created_date }) => <Time at={created_date} isShort /> },
  {
    name: "Reference",
    isHeader: true,
    cell: ({ external_id, reference }) => (
      <a href={agreementLink(external_id, undefined)}>
        <Text>{reference ?? external_id}</Text>
      </a>
    ),
  },
  { name: "Description", class: "wide", cell: ({ description }) => <Text>{description}</Text> },
  { name: "Card", class: "wide", cell: (agreement) => <Text>{cardOf(agreement)}</Text> },
  { name: "State", class: "short", cell: ({ status }) => <State status={status.toLowerCase()} /> },
];

/** `#/agreements/ID`: an agreement with its instrument, its payments and its events. */
function AgreementView(place: Place) {
  const { path, parameters } = place;
  const [, id = ""] = path;
  const client = useClient();
  const account = parameters.get("gateway_account_id");
  const accounts = useAccounts();
  const readOne = useReadOne(account);
  const loaded = useKept(`agreement ${account} ${id}`, (signal) =>
    readOne(async (ofAccount) => {
      const scope =
        "account_id" in ofAccount ? ofAccount : { override_account_or_service_id_restriction: true };
      const named = { agreementExternalId: id, ...scope };
      const agreement = await client.getAgreement(named, { signal });
      const service_id = agreement.service_id ?? undefined;
      const { events } = await client.listAgreementEvents(
        { agreementExternalId: id, service_id, ...("account_id" in scope && scope) },
        { signal },
      );
      return { agreement, events };
    }),
  );
  const { agreement: found } = loaded.value ?? {};
  return (
    <>
      <Heading title={`Agreement ${found?.reference ?? id}`}>
        {`Agreement ${found?.reference ?? id}`} {found && <State status={found.status.toLowerCase()} />}
      </Heading>
      <Show of={loaded} name="agreement">
        {({ agreement, events }) => (
          <>
            <Facts facts={factsOf(agreement)} />
            <h2>Payments</h2>
            <FoundTransactions
              place={place}
              search={{ agreement_id: id, ...(account === null ? accounts : { account_id: [account] }) }}
              fileName={`agreement ${id}`}
            />
            <h2>Timeline</h2>
            <ol class="timeline">
              {events.map(({ event_type, timestamp }, index) => (
                <li key={index}>
                  <Time at={timestamp} />
                  <p>{describeEvent(event_type)}</p>
                </li>
              ))}
            </ol>
            <RawJson value={agreement} />
          </>
        )}
      </Show>
    </>
  );
}

const factsOf = (agreement: Agreement) =>
  [
    ["Id", <Copied key="id" text={agreement.external_id} />],
    ["Description", <bdi key="description">{agreement.description}</bdi>],
    ["Created", <Time key="created" at={agreement.created_date} />],
    ["Card", cardOf(agreement)],
    [
      "Type of instrument",
      agreement.payment_instrument && formatName(agreement.payment_instrument.type ?? ""),
    ],
    ["Payer in the service", agreement.user_identifier && <bdi>{agreement.user_identifier}</bdi>],
    ["Service", agreement.service_id],
    ["Money", agreement.live === false && "Test money"],
    ["Cancelled", agreement.cancelled_date && <Time at={agreement.cancelled_date} />],
    ["Cancelled by", agreement.cancelled_by_user_email && <bdi>{agreement.cancelled_by_user_email}</bdi>],
  ] as const;
