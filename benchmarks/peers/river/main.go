// River at the settings of its own benchmark program. The steps are those of benchmarks/protocol.py: same order, same
// figures, same lines.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"sort"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	finishPoll  = 5 * time.Millisecond
	settle      = time.Second
	firstSample = 1_000_000
)

type plan struct {
	Single   int     `json:"single"`
	Bulk     int     `json:"bulk"`
	Batch    int     `json:"batch"`
	Drain    int     `json:"drain"`
	Samples  int     `json:"samples"`
	Gap      float64 `json:"gap"`
	Settings struct {
		MaxWorkers        int `json:"max_workers"`
		FetchCooldownMS   int `json:"fetch_cooldown_ms"`
		FetchPollInterval int `json:"fetch_poll_interval_ms"`
		PoolSize          int `json:"pool_size"`
	} `json:"settings"`
}

type noopArgs struct {
	I int `json:"i" river:"unique"`
}

func (noopArgs) Kind() string { return "noop" }

type noopWorker struct {
	river.WorkerDefaults[noopArgs]
	tally *tally
}

func (w *noopWorker) Work(_ context.Context, job *river.Job[noopArgs]) error {
	w.tally.hit(job.Args.I)
	return nil
}

// tally counts what the handlers saw and when a sampled job started.
type tally struct {
	mutex   sync.Mutex
	seen    int
	goal    int
	reached chan struct{}
	awaited map[int]chan time.Time
}

func newTally() *tally {
	return &tally{reached: make(chan struct{}, 1), awaited: map[int]chan time.Time{}}
}

func (t *tally) hit(number int) {
	at := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.seen++
	if started, ok := t.awaited[number]; ok {
		delete(t.awaited, number)
		started <- at
	}
	if t.seen == t.goal {
		t.reached <- struct{}{}
	}
}

func (t *tally) expect(more int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.goal = t.seen + more
}

func (t *tally) startOf(number int) chan time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.awaited[number] = make(chan time.Time, 1)
	return t.awaited[number]
}

type bench struct {
	plan   plan
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	tally  *tally
}

func (b *bench) enqueue(ctx context.Context, number int) {
	_, err := b.client.Insert(ctx, noopArgs{I: number}, nil)
	must(err)
}

func (b *bench) fill(ctx context.Context, jobs int, unique bool) {
	for first := 0; first < jobs; first += b.plan.Batch {
		params := make([]river.InsertManyParams, 0, b.plan.Batch)
		for number := first; number < min(first+b.plan.Batch, jobs); number++ {
			param := river.InsertManyParams{Args: noopArgs{I: number}}
			if unique {
				param.InsertOpts = &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
			}
			params = append(params, param)
		}
		b.insert(ctx, params, unique)
	}
}

// insert takes COPY where it can; COPY cannot skip a key that is there already, so keyed jobs go the other way.
func (b *bench) insert(ctx context.Context, params []river.InsertManyParams, unique bool) {
	var err error
	if unique {
		_, err = b.client.InsertMany(ctx, params)
	} else {
		_, err = b.client.InsertManyFast(ctx, params)
	}
	must(err)
}

func (b *bench) execute(ctx context.Context, statement string) {
	_, err := b.pool.Exec(ctx, statement)
	must(err)
}

func (b *bench) unfinished(ctx context.Context) (jobs int) {
	must(b.pool.QueryRow(ctx, "select count(*) from river_job where state <> 'completed'").Scan(&jobs))
	return jobs
}

func (b *bench) singles(ctx context.Context) {
	if b.plan.Single == 0 {
		return
	}
	b.enqueue(ctx, 0)
	started := time.Now()
	for number := 1; number <= b.plan.Single; number++ {
		b.enqueue(ctx, number)
	}
	report("enqueue_single", float64(b.plan.Single)/time.Since(started).Seconds(), "jobs/s")
	b.execute(ctx, "truncate river_job")
}

func (b *bench) bulk(ctx context.Context) {
	if b.plan.Bulk == 0 {
		return
	}
	started := time.Now()
	b.fill(ctx, b.plan.Bulk, true)
	report("enqueue_bulk", float64(b.plan.Bulk)/time.Since(started).Seconds(), "jobs/s")
	b.execute(ctx, "truncate river_job")
}

func (b *bench) drain(ctx context.Context) {
	b.fill(ctx, b.plan.Drain, false)
	b.execute(ctx, "vacuum analyze river_job")
	b.tally.expect(b.plan.Drain)
	started := time.Now()
	must(b.client.Start(ctx))
	<-b.tally.reached
	for b.unfinished(ctx) > 0 {
		time.Sleep(finishPoll)
	}
	report("drain", float64(b.plan.Drain)/time.Since(started).Seconds(), "jobs/s")
}

func (b *bench) latency(ctx context.Context, first int, name string) {
	waits := make([]float64, 0, b.plan.Samples)
	for number := first; number < first+b.plan.Samples; number++ {
		start := b.tally.startOf(number)
		asked := time.Now()
		b.enqueue(ctx, number)
		waits = append(waits, (<-start).Sub(asked).Seconds()*1000)
		time.Sleep(time.Duration(b.plan.Gap * float64(time.Second)))
	}
	sort.Float64s(waits)
	at := func(percent float64) float64 { return waits[int(math.Round(percent/100*float64(len(waits)-1)))] }
	report(name+"_p50", at(50), "ms")
	report(name+"_p99", at(99), "ms")
}

func main() {
	ctx := context.Background()
	b := &bench{tally: newTally()}
	must(json.Unmarshal([]byte(os.Getenv("BENCH_PLAN")), &b.plan))
	b.open(ctx)
	say(map[string]any{"version": "river " + riverVersion()})
	b.singles(ctx)
	b.bulk(ctx)
	b.drain(ctx)
	if b.plan.Samples == 0 {
		return
	}
	b.latency(ctx, firstSample, "latency_after_burst")
	b.execute(ctx, "vacuum analyze river_job")
	time.Sleep(settle)
	b.latency(ctx, firstSample+b.plan.Samples, "latency_idle")
}

func (b *bench) open(ctx context.Context) {
	config, err := pgxpool.ParseConfig(os.Getenv("BENCH_DSN"))
	must(err)
	config.MaxConns = int32(b.plan.Settings.PoolSize)
	b.pool, err = pgxpool.NewWithConfig(ctx, config)
	must(err)
	driver := riverpgxv5.New(b.pool)
	migrator, err := rivermigrate.New(driver, nil)
	must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(err)
	workers := river.NewWorkers()
	river.AddWorker(workers, &noopWorker{tally: b.tally})
	b.client, err = river.NewClient(driver, &river.Config{
		FetchCooldown:     time.Duration(b.plan.Settings.FetchCooldownMS) * time.Millisecond,
		FetchPollInterval: time.Duration(b.plan.Settings.FetchPollInterval) * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: b.plan.Settings.MaxWorkers}},
		Workers:           workers,
	})
	must(err)
}

func riverVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/riverqueue/river" {
				return module.Version + ", " + info.GoVersion
			}
		}
	}
	return "unknown"
}

func report(measure string, value float64, unit string) {
	say(map[string]any{"measure": measure, "value": value, "unit": unit})
}

func say(line map[string]any) {
	encoded, err := json.Marshal(line)
	must(err)
	fmt.Println(string(encoded))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
