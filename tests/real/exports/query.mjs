// SPDX-License-Identifier: Apache-2.0
// Prints the rows of a query, values apart by tabs: node query.mjs SQL
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
const reader = await connection.runAndReadAll(process.argv[2]);
for (const row of reader.getRowsJson()) {
  console.log(row.join("\t"));
}
