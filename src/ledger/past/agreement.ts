import { agreementProjection } from "../projection/agreement.ts";
import { paymentInstrumentProjection } from "../projection/payment-instrument.ts";
import {
  type AgreementKey,
  type AgreementRow,
  type FoundAgreement,
  findAgreement,
} from "../tables/agreement.ts";
import { instrumentIdsAsOf, type PaymentInstrumentRow } from "../tables/payment-instrument.ts";
import { foldPast, hasValues, type Past } from "./past.ts";

/** An agreement with its newest payment instrument. */
export async function pastAgreement(past: Past, key: AgreementKey): Promise<FoundAgreement | undefined> {
  const row = await pastAgreementRow(past, key);
  if (!row) return undefined;
  const instrument = await newestInstrument(past, key.external_id);
  return {
    ...row,
    details: JSON.stringify(row.details),
    payment_instrument: instrument && { ...instrument, details: JSON.stringify(instrument.details) },
  };
}

/** An agreement without its payment instrument. */
export async function pastAgreementRow(past: Past, key: AgreementKey): Promise<AgreementRow | undefined> {
  if (!(await findAgreement(past.sql, key, 0))) return undefined;
  const row = await foldPast(past, ["agreement"], agreementProjection, key.external_id);
  return row && hasValues(row, key) ? row : undefined;
}

async function newestInstrument(past: Past, agreementId: string): Promise<PaymentInstrumentRow | null> {
  let newest: PaymentInstrumentRow | null = null;
  for (const id of await instrumentIdsAsOf(past.sql, agreementId, past.asOf)) {
    const row = await foldPast(past, ["payment_instrument"], paymentInstrumentProjection, id);
    if (row?.agreement_external_id === agreementId && (newest === null || isNewer(row, newest))) newest = row;
  }
  return newest;
}

/** The order in which an agreement shows the newest payment instrument. */
const isNewer = (one: PaymentInstrumentRow, other: PaymentInstrumentRow): boolean =>
  one.created_date === other.created_date
    ? one.external_id > other.external_id
    : one.created_date > other.created_date;
