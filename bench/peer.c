#define _GNU_SOURCE /* pipe2 */

#include "bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

static void child(int in, int out, char *const argv[])
{
	setpgid(0, 0); /* Ctrl-C is for us: we finish the sample, it ends with its input */
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int peer_start(struct peer *p, const char *name, char *const argv[])
{
	int request[2], answer[2];
	memset(p, 0, sizeof *p);
	p->name = name;
	if (pipe2(request, O_CLOEXEC))
		return n2d_error("%s: %s", name, strerror(errno));
	if (pipe2(answer, O_CLOEXEC)) {
		close(request[0]);
		close(request[1]);
		return n2d_error("%s: %s", name, strerror(errno));
	}
	signal(SIGPIPE, SIG_IGN); /* a program that ended is an answer that does not come */
	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0)
		child(request[0], answer[1], argv);
	close(request[0]);
	close(answer[1]);
	p->to = fdopen(request[1], "w");
	p->from = fdopen(answer[0], "r");
	if (p->pid > 0 && p->to && p->from)
		return 0;
	n2d_error("%s: %s", name, strerror(errno));
	peer_stop(p);
	return -1;
}

int peer_ask(struct peer *p, const char *line, char *reply, size_t room)
{
	if (line && (fprintf(p->to, "%s\n", line) < 0 || fflush(p->to)))
		return n2d_error("%s: it has ended", p->name);
	if (!fgets(reply, (int)room, p->from))
		return n2d_error("%s: it ended without an answer", p->name);
	reply[strcspn(reply, "\n")] = 0;
	return 0;
}

int peer_greet(struct peer *p)
{
	char line[512], *version, *isa;
	if (peer_ask(p, NULL, line, sizeof line))
		return -1;
	version = strchr(line, '\t');
	isa = version ? strchr(version + 1, '\t') : NULL;
	if (strncmp(line, "ready", 5) != 0 || !isa)
		return n2d_error("%s: %.300s", p->name, line);
	*isa = 0;
	snprintf(p->version, sizeof p->version, "%s", version + 1);
	snprintf(p->isa, sizeof p->isa, "%s", isa + 1);
	return 0;
}

void peer_stop(struct peer *p)
{
	if (p->to)
		fclose(p->to);
	if (p->from)
		fclose(p->from);
	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);
	p->pid = 0;
	p->to = p->from = NULL;
}
