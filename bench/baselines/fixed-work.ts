import { respond, serve } from "./serve.ts";

/** Responds to every request with JSON that it parses and writes: work that no change of the services changes. */
const text = JSON.stringify(
  Array.from({ length: 20 }, (_, index) => ({
    id: `id-${index}`,
    amount: 1000 * index,
    email: `payer${index}@example.org`,
    description: "Parking permit, zone B",
    card: { brand: "visa", last_digits: "4242", address: { line1: `${index} High Street`, city: "London" } },
    tags: ["one", "two", "three"],
  })),
);

serve((_request, response) => respond(response, JSON.stringify(JSON.parse(text))));
