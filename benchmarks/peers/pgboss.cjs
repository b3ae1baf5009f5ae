// pg-boss with batches of 1000 on four local workers, fetching again while batches come back full, woken by NOTIFY.
// Keys need a queue with a policy, so the bulk figure is taken on one and the drain on a plain queue.
"use strict";

const { Client } = require("pg");
const { PgBoss } = require("pg-boss");
const { plan, sayVersion, Tally, measure, run } = require("./protocol.cjs");

run(async () => {
  const { batch_size, local_concurrency, pool_size, polling_seconds } = plan.settings;
  const boss = new PgBoss({ connectionString: plan.dsn, useListenNotify: true, max: pool_size });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue("noop", { notify: true });
  await boss.createQueue("keyed", { notify: true, policy: "exclusive" });
  const client = new Client({ connectionString: plan.dsn });
  await client.connect();
  sayVersion("pg-boss");

  const tally = new Tally();
  const options = {
    batchSize: batch_size,
    localConcurrency: local_concurrency,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: polling_seconds,
  };
  const work = async (jobs) => {
    for (const job of jobs) tally.hit(job.data.i);
  };
  const unfinished = "select count(*)::int as jobs from pgboss.job where name = 'noop' and state < 'completed'";

  await measure(
    {
      enqueue: (i) => boss.send("noop", { i }),
      enqueueMany: (numbers, unique) =>
        unique
          ? boss.insert("keyed", numbers.map((i) => ({ data: { i }, singletonKey: `refresh/quote/${i}` })))
          : boss.insert("noop", numbers.map((i) => ({ data: { i } }))),
      clear: () => client.query("truncate pgboss.job"),
      tidy: () => client.query("vacuum analyze pgboss.job"),
      startWorker: () => boss.work("noop", options, work),
      unfinished: async () => (await client.query(unfinished)).rows[0].jobs,
    },
    tally,
  );
});
