#include "base/stop.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t n2d_stop;
static const char *acknowledgement;
static struct timespec first;

static double since_first(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
}

/* Nothing but what is safe in a handler. */
static void on_signal(int sig)
{
	if (n2d_stop) {
		if (since_first() < 0.5)
			return;
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	n2d_stop = sig;
	clock_gettime(CLOCK_MONOTONIC, &first);
	if (acknowledgement && write(STDERR_FILENO, acknowledgement, strlen(acknowledgement)) < 0)
		return; /* nobody to tell */
}

/* Asked first: one that comes between catching and ignoring it again would count. */
static void catch_unless_ignored(int sig)
{
	struct sigaction now;
	if (sigaction(sig, NULL, &now) || now.sa_handler != SIG_IGN)
		signal(sig, on_signal);
}

void n2d_stop_catch(const char *says)
{
	acknowledgement = says;
	catch_unless_ignored(SIGINT);
	catch_unless_ignored(SIGHUP);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
}
