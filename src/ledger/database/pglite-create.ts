import { PGlite } from "@electric-sql/pglite";
import { messageOf } from "../../process/describe-error.ts";

// The program that creates an empty database of the embedded engine in the folder of its argument. It sends its parent the
// reason if it fails.

// The parent has died, and another process may do the work again.
process.once("disconnect", () => process.exit(1));
try {
  const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=1MB"];
  const pglite = await PGlite.create({ dataDir: process.argv[2] ?? "", startParams });
  await pglite.close();
  process.exit(0);
} catch (error) {
  process.send?.(messageOf(error), () => process.exit(1));
}
