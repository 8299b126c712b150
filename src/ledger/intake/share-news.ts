import type { Database } from "../../database/database.ts";
import { type News, openNews } from "../../waiting/news.ts";

/** News of the events that this process stores, of which the other processes get a signal, and of those that they store. */
export function shareNews(database: Database, own: News) {
  const news = openNews();
  const emit = () => void news.emit("news");
  const signals = database.signals?.("payment_ledger_events", emit);
  own.on("news", () => {
    emit();
    signals?.send();
  });
  return {
    news,
    async [Symbol.asyncDispose]() {
      await signals?.[Symbol.asyncDispose]();
    },
  };
}
