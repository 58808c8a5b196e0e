#include "bench/gbench.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

struct gbench_state {
	benchmark::State &state;
	int started;
};

namespace
{

/* Passes every repetition to a C function, and everything to Google's own reporter when there is one. */
class Tee : public benchmark::BenchmarkReporter
{
      public:
	Tee(gbench_report *report, void *user, benchmark::BenchmarkReporter *inner)
	    : report_(report), user_(user), inner_(inner)
	{
	}

	bool ReportContext(const Context &context) override { return inner_ ? inner_->ReportContext(context) : true; }

	void ReportRuns(const std::vector<Run> &runs) override
	{
		for (const Run &r : runs) {
			if (r.run_type != Run::RT_Iteration || !report_)
				continue;
			gbench_row row = {};
			row.id = r.run_name.function_name.c_str();
			row.repetition = static_cast<int>(r.repetition_index);
			row.seconds = r.iterations ? r.real_accumulated_time / static_cast<double>(r.iterations) : 0;
			row.label = r.report_label.c_str();
			row.error = r.error_occurred ? r.error_message.c_str() : nullptr;
			report_(&row, user_);
		}
		if (inner_)
			inner_->ReportRuns(runs);
	}

	void Finalize() override
	{
		if (inner_)
			inner_->Finalize();
	}

      private:
	gbench_report *report_;
	void *user_;
	benchmark::BenchmarkReporter *inner_;
};

} // namespace

void gbench_init(int *argc, char **argv) { benchmark::Initialize(argc, argv); }

void gbench_context(const char *key, const char *value) { benchmark::AddCustomContext(key, value); }

void gbench_add(const char *id, gbench_fn *fn, void *arg, int repetitions)
{
	auto *b = benchmark::RegisterBenchmark(id, [fn, arg](benchmark::State &state) {
		gbench_state s = {state, 0};
		fn(&s, arg);
	});
	if (repetitions > 0)
		b->UseManualTime()->Iterations(1)->Repetitions(repetitions)->Unit(benchmark::kMicrosecond);
}

int gbench_iterate(gbench_state *s)
{
	s->started = 1;
	return s->state.KeepRunning();
}

void gbench_seconds(gbench_state *s, double seconds) { s->state.SetIterationTime(seconds); }

void gbench_counter(gbench_state *s, const char *name, double value) { s->state.counters[name] = value; }

void gbench_label(gbench_state *s, const char *text) { s->state.SetLabel(text); }

/* Google Benchmark wants the loop entered even when there is nothing to do. */
void gbench_skip(gbench_state *s, const char *why)
{
	s->state.SkipWithError(why);
	while (!s->started && s->state.KeepRunning())
		;
}

size_t gbench_run(gbench_report *report, void *user, int all, int google)
{
	std::unique_ptr<benchmark::BenchmarkReporter> inner(google ? benchmark::CreateDefaultDisplayReporter() : nullptr);
	Tee tee(report, user, inner.get());
	return all ? benchmark::RunSpecifiedBenchmarks(&tee, nullptr, ".") : benchmark::RunSpecifiedBenchmarks(&tee);
}

void gbench_clear(void) { benchmark::ClearRegisteredBenchmarks(); }

const char *gbench_version(void) { return N2D_GBENCH_VERSION; }
