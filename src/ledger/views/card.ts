import type { components } from "../../../generated/ledger.ts";
import { textOf } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";

type Schemas = components["schemas"];

/** Details of a card, with the brand from this member; undefined if nothing is known about the card. */
export function viewCardDetails(
  details: Details,
  { brand: brandMember, hasAddress }: { brand: "card_brand" | "card_brand_label"; hasAddress: boolean },
): Schemas["CardDetails"] | undefined {
  const brand = textOf(details, brandMember);
  const type = textOf(details, "card_type")?.toLowerCase();
  const known = {
    cardholder_name: textOf(details, "cardholder_name"),
    billing_address: hasAddress ? viewAddress(details) : undefined,
    last_digits_card_number: textOf(details, "last_digits_card_number"),
    first_digits_card_number: textOf(details, "first_digits_card_number"),
    expiry_date: textOf(details, "expiry_date"),
    card_type: type === "credit" || type === "debit" ? type : undefined,
  } as const;
  const isUnknown = brand === undefined && Object.values(known).every((value) => value === undefined);
  return isUnknown ? undefined : { ...known, card_brand: brand ?? "" };
}

function viewAddress(details: Details): Schemas["Address"] | undefined {
  const address = {
    line1: textOf(details, "address_line1"),
    line2: textOf(details, "address_line2"),
    postcode: textOf(details, "address_postcode"),
    city: textOf(details, "address_city"),
    county: textOf(details, "address_county"),
    country: textOf(details, "address_country"),
  };
  return Object.values(address).every((value) => value === undefined) ? undefined : address;
}
