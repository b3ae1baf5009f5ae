// graphile-worker as its performance page sets it: 24 at once, a local queue of 500, completion in batches.
"use strict";

const { Pool } = require("pg");
const { Logger, makeWorkerUtils, run: runWorker } = require("graphile-worker");
const { plan, sayVersion, Tally, measure, run } = require("./protocol.cjs");

const JOBS = "graphile_worker._private_jobs";

run(async () => {
  const { concurrent_jobs, local_queue, pool_size, batch_delay_ms } = plan.settings;
  const pool = new Pool({ connectionString: plan.dsn, max: pool_size });
  pool.on("error", (error) => console.error(error));
  pool.on("connect", (client) => client.on("error", (error) => console.error(error)));
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  sayVersion("graphile-worker");

  const tally = new Tally();
  const preset = {
    worker: {
      concurrentJobs: concurrent_jobs,
      maxPoolSize: pool_size,
      localQueue: { size: local_queue },
      completeJobBatchDelay: batch_delay_ms,
      failJobBatchDelay: batch_delay_ms,
    },
  };
  const taskList = { noop: async (payload) => tally.hit(payload.i) };
  const spec = (i, unique) =>
    unique
      ? { identifier: "noop", payload: { i }, jobKey: `refresh/quote/${i}` }
      : { identifier: "noop", payload: { i } };

  await measure(
    {
      enqueue: (i) => utils.addJob("noop", { i }),
      enqueueMany: (numbers, unique) => utils.addJobs(numbers.map((i) => spec(i, unique))),
      clear: () => pool.query(`truncate ${JOBS} cascade`),
      tidy: () => pool.query(`vacuum analyze ${JOBS}`),
      startWorker: () => runWorker({ pgPool: pool, logger, noHandleSignals: true, preset, taskList }),
      unfinished: async () => (await pool.query(`select count(*)::int as jobs from ${JOBS}`)).rows[0].jobs,
    },
    tally,
  );
});
