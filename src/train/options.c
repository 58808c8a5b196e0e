#include "train/options.h"

#include "base/error.h"

#define AT(field) offsetof(struct n2d_train_options, field)
#define SIZE(name, field, zero, min, help) {name, N2D_OPTION_SIZE, AT(field), zero, min, 1e15, help}
#define REAL(name, field, min, max, help) {name, N2D_OPTION_REAL, AT(field), NULL, min, max, help}

static const char schedules[] = "paper|inverse-sqrt|constant"; /* as enum n2d_schedule_kind */

static const struct n2d_option options[] = {
	{"schedule", N2D_OPTION_CHOICE, AT(schedule), schedules, 0, 0, "of the learning rate (train/schedule.h)"},
	REAL("rate", rate, 1e-30, 1e30, "learning rate: the peak; of schedule paper, a factor"),
	SIZE("warmup", warmup, NULL, 0, "steps in which the learning rate rises"),
	REAL("beta1", beta1, 0, 1, "Adam's"),
	REAL("beta2", beta2, 0, 1, "Adam's"),
	REAL("adam-eps", eps, 1e-30, 1, "Adam's"),
	REAL("clip", clip, 0, 1e30, "largest norm of the gradients; 0: none"),
	SIZE("batch-tokens", batch_tokens, NULL, 1, "padded tokens a batch, of the longer side"),
	SIZE("accumulate", accumulate, NULL, 1, "batches a step"),
	SIZE("max-tokens", max_length, "none", 1, "tokens of a sentence; pairs with a longer side are left out"),
	SIZE("max-steps", max_steps, "none", 1, "steps after which training ends"),
	SIZE("max-epochs", max_epochs, "none", 1, "epochs after which training ends"),
	SIZE("patience", patience, "none", 1, "validations without a lower loss after which training ends"),
	SIZE("valid-every", valid_every, "epoch", 1, "steps between validations"),
	SIZE("valid-bleu", valid_bleu, "none", 0, "first validation pairs that BLEU of greedy translations is of"),
	SIZE("save-every", save_every, "epoch", 1, "steps between checkpoints"),
	SIZE("keep", keep, NULL, 1, "checkpoints kept, the best apart"),
	SIZE("log-every", log_every, NULL, 1, "steps between lines of the log"),
	SIZE("seed", seed, NULL, 0, "of initial weights, dropout and the order of the data"),
};
const struct n2d_option_table n2d_train_options = {options, sizeof options / sizeof *options};

struct n2d_train_options n2d_train_defaults(void)
{
	return (struct n2d_train_options){
		.schedule = N2D_SCHEDULE_PAPER, .rate = 1, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9, .warmup = 4000,
		.batch_tokens = 4096, .accumulate = 1, .max_length = 256, .max_epochs = 20, .keep = 10, .valid_bleu = 1000, .log_every = 50, .seed = 1,
	};
}

int n2d_train_step_options(struct n2d_step_options *s, const struct n2d_train_options *o, size_t d_model)
{
	*s = (struct n2d_step_options){.beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps, .clip = o->clip, .seed = o->seed};
	s->schedule = (struct n2d_schedule){(enum n2d_schedule_kind)o->schedule, o->rate, o->warmup ? o->warmup : 1, d_model};
	if (!o->max_steps && !o->max_epochs && !o->patience)
		return n2d_error("max-steps, max-epochs or patience: one must limit the training");
	return 0;
}
