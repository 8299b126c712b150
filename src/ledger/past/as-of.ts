import type { Sql } from "../../database/database.ts";
import { StatementTimeout } from "../../database/database.ts";
import { agreementProjection } from "../projection/agreement.ts";
import { type FoldedRow, Folds, type Projection } from "../projection/history.ts";
import { paymentInstrumentProjection } from "../projection/payment-instrument.ts";
import { payoutProjection } from "../projection/payout.ts";
import { projectFrom, transactionProjection } from "../projection/transaction.ts";
import {
  type AgreementKey,
  type AgreementRow,
  type FoundAgreement,
  findAgreement,
} from "../tables/agreement.ts";
import {
  childIdsAsOf,
  type EventRow,
  eventsInPieces,
  type ResourceType,
  transactionTypes,
} from "../tables/event.ts";
import { instrumentIdsAsOf, type PaymentInstrumentRow } from "../tables/payment-instrument.ts";
import { idsOfAccount, type ReportedTransaction, type TransactionRow } from "../tables/transaction.ts";

/**
 * The state as of an instant: the events dated up to it, whenever they arrived, are folded by the fold that also writes the
 * tables. A transaction, its children and its payment must belong to the account now, too, and an agreement also to the
 * service. That is checked first, by their rows, since folding a long history takes time. Rejects with `StatementTimeout` if it takes longer than the limit in
 * milliseconds.
 */
export function asOfReader(sql: Sql, asOf: string, limitMs: number) {
  const deadline = performance.now() + limitMs;
  async function* read(types: ResourceType[], externalIds: string[]): AsyncGenerator<EventRow[]> {
    for await (const events of eventsInPieces(sql, types, externalIds, asOf)) {
      if (performance.now() > deadline) throw new StatementTimeout(limitMs);
      yield events;
    }
  }
  /** The events of those of these transactions that belong to the account now. */
  async function* readOwn(externalIds: string[], accountId: string | undefined): AsyncGenerator<EventRow[]> {
    yield* read(transactionTypes, await idsOfAccount(sql, externalIds, accountId));
  }

  /** The row of one resource. */
  async function fold<Row extends FoldedRow, State extends string>(
    type: ResourceType,
    projection: Projection<Row, State>,
    externalId: string,
  ): Promise<Row | undefined> {
    const folds = new Folds(projection);
    for await (const events of read([type], [externalId])) folds.add(events);
    return folds.rows().get(externalId);
  }

  async function paidOutDate(row: TransactionRow): Promise<string | null> {
    if (row.gateway_payout_id === null) return null;
    const payout = await fold("payout", payoutProjection, row.gateway_payout_id);
    return payout?.gateway_account_id === row.gateway_account_id ? payout.paid_out_date : null;
  }

  /** The agreement without its payment instrument. */
  async function agreementAlone(key: AgreementKey): Promise<AgreementRow | undefined> {
    if (!(await findAgreement(sql, key, 0))) return undefined;
    const row = await fold("agreement", agreementProjection, key.external_id);
    const belongs = (["gateway_account_id", "service_id"] as const).every(
      (name) => key[name] === undefined || row?.[name] === key[name],
    );
    return belongs ? row : undefined;
  }

  async function newestInstrument(agreementId: string): Promise<PaymentInstrumentRow | null> {
    let newest: PaymentInstrumentRow | null = null;
    for (const id of await instrumentIdsAsOf(sql, agreementId, asOf)) {
      const row = await fold("payment_instrument", paymentInstrumentProjection, id);
      if (row?.agreement_external_id === agreementId && (newest === null || isNewer(row, newest)))
        newest = row;
    }
    return newest;
  }

  return {
    agreementAlone,

    async agreement(key: AgreementKey): Promise<FoundAgreement | undefined> {
      const row = await agreementAlone(key);
      return row && { ...row, payment_instrument: await newestInstrument(key.external_id) };
    },

    async transaction(
      externalId: string,
      accountId: string | undefined,
    ): Promise<ReportedTransaction | undefined> {
      const [row] = await projectFrom((ids) => readOwn(ids, accountId), [externalId]);
      return row && { ...row, paid_out_date: await paidOutDate(row) };
    },

    /** The transaction and its children, those that belonged to the account and belong to it now, with their amounts. */
    async family(
      externalId: string,
      accountId: string,
    ): Promise<Pick<TransactionRow, "external_id" | "details">[]> {
      const [own] = await idsOfAccount(sql, [externalId], accountId);
      if (own === undefined) return [];
      const children = await idsOfAccount(sql, await childIdsAsOf(sql, externalId, asOf), accountId);
      const family: Pick<TransactionRow, "external_id" | "details">[] = [];
      for (const id of new Set([own, ...children])) {
        const folds = new Folds(transactionProjection);
        for await (const events of read(transactionTypes, [id])) folds.add(events);
        const row = folds.rows().get(id);
        const isRelated = id === externalId || row?.parent_external_id === externalId;
        if (row?.gateway_account_id === accountId && isRelated) {
          family.push({ external_id: id, details: { amount: row.details.amount } });
        }
      }
      return family;
    },
  };
}

/** The order in which an agreement shows the newest payment instrument. */
const isNewer = (one: PaymentInstrumentRow, other: PaymentInstrumentRow): boolean =>
  one.created_date === other.created_date
    ? one.external_id > other.external_id
    : one.created_date > other.created_date;
