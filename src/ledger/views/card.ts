import type { components } from "../../../generated/ledger.ts";
import type { Members } from "../../values/json-members.ts";
import {
  constantWriter,
  ifNotEmpty,
  noWriter,
  objectWriter,
  orElse,
  writer,
} from "../../values/json-writer.ts";
import { plainText, text } from "./details.ts";

type Schemas = components["schemas"];

const address = ifNotEmpty(
  objectWriter<Members, Schemas["Address"]>({
    line1: text("address_line1"),
    line2: text("address_line2"),
    postcode: text("address_postcode"),
    city: text("address_city"),
    county: text("address_county"),
    country: text("address_country"),
  }),
);

const readType = plainText("card_type");

const [credit, debit] = [constantWriter("credit"), constantWriter("debit")];

const cardType = writer<Members, "credit" | "debit", boolean>((details, out) => {
  const type = readType(details)?.toLowerCase();
  if (type === "credit") return credit(details, out);
  return type === "debit" && debit(details, out);
});

/** Writes details of a card, with the brand from this member; nothing if nothing is known about the card. */
export function cardWriter({
  brand,
  hasAddress,
}: {
  brand: "card_brand" | "card_brand_label";
  hasAddress: boolean;
}) {
  const readBrand = plainText(brand);
  const noBrand = constantWriter("");
  const write = objectWriter<Members, Schemas["CardDetails"]>({
    cardholder_name: text("cardholder_name"),
    billing_address: hasAddress ? address : noWriter,
    last_digits_card_number: text("last_digits_card_number"),
    first_digits_card_number: text("first_digits_card_number"),
    expiry_date: text("expiry_date"),
    card_type: cardType,
    card_brand: orElse(text(brand), noBrand),
  });
  const unknownLength = '{"card_brand":""}'.length;
  return writer<Members, Schemas["CardDetails"], boolean>((details, out) => {
    const { length } = out;
    write(details, out);
    return out.length - length > unknownLength || readBrand(details) !== undefined;
  });
}
