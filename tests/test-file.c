/* Files are written whole or not at all: failures, links, devices, a second writer, a killed writer. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit.h"

static char folder[] = "test-file.XXXXXX";
static char path[64], temporary[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/a", folder);
	snprintf(temporary, sizeof temporary, "%s/a.n2d-tmp", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(temporary);
	return rmdir(folder); /* so nothing else was left in it */
}

static void put(const char *to, const char *text)
{
	struct n2d_out o;
	assert_int_equal(n2d_out_open(&o, to), 0);
	n2d_out_printf(&o, "%s", text);
	assert_int_equal(n2d_out_commit(&o), 0);
}

static void holds(const char *from, const char *text)
{
	struct n2d_map m;
	assert_int_equal(n2d_map_open(&m, from), 0);
	assert_int_equal(m.size, strlen(text));
	assert_memory_equal(m.data, text, m.size);
	n2d_map_close(&m);
}

static void no_temporary(void)
{
	struct stat s;
	assert_int_equal(lstat(temporary, &s), -1);
}

static void commit_replaces_and_cancel_does_not(void **state)
{
	(void)state;
	struct n2d_out o;
	put(path, "old");
	assert_int_equal(n2d_out_open(&o, path), 0);
	n2d_out_write(&o, "new", 3);
	holds(path, "old");
	n2d_out_cancel(&o);
	holds(path, "old");
	no_temporary();
	put(path, "new and longer");
	put(path, "");
	holds(path, "");
	no_temporary();
}

static void a_reader_keeps_what_it_opened(void **state)
{
	(void)state;
	struct n2d_map m;
	put(path, "before");
	assert_int_equal(n2d_map_open(&m, path), 0);
	put(path, "after");
	assert_memory_equal(m.data, "before", 6);
	n2d_map_close(&m);
	holds(path, "after");
}

static void permissions_and_links_stay(void **state)
{
	(void)state;
	char link[64];
	struct stat s;
	snprintf(link, sizeof link, "%s/link", folder);
	put(path, "old");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink("a", link), 0);
	put(link, "through the link");
	holds(path, "through the link");
	assert_int_equal(lstat(link, &s), 0);
	assert_true(S_ISLNK(s.st_mode));
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 07777, 0640);
	unlink(link);
}

/* The file size limit stands for a disk that fills up. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	(void)state;
	struct rlimit old, small;
	struct n2d_out o;
	char block[5000] = {1};
	put(path, "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t limit = 0; limit <= 20000; limit += 1250) {
		small = (struct rlimit){limit, old.rlim_max};
		assert_int_equal(n2d_out_open(&o, path), 0);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		for (int i = 0; i < 5; i++)
			n2d_out_write(&o, block, sizeof block);
		int bad = n2d_out_commit(&o);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(bad, -1);
		assert_non_null(strstr(n2d_error_text(), path));
		assert_non_null(strstr(n2d_error_text(), strerror(EFBIG)));
		holds(path, "old");
		no_temporary();
	}
}

static void devices_are_written_directly(void **state)
{
	(void)state;
	struct n2d_out o;
	struct stat s;
	/* First with a pipe of our own: what replaces it would replace the devices of a machine whose root tests. */
	char fifo[64], got = 0;
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	int fd = open(fifo, O_RDWR | O_NONBLOCK);
	put(fifo, "x");
	assert_int_equal(read(fd, &got, 1), 1);
	assert_int_equal(got, 'x');
	assert_int_equal(stat(fifo, &s), 0);
	assert_true(S_ISFIFO(s.st_mode));
	close(fd);
	unlink(fifo);
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(n2d_out_open(&o, "/dev/full"), 0);
	n2d_out_write(&o, "x", 1);
	assert_int_equal(n2d_out_commit(&o), -1);
	assert_non_null(strstr(n2d_error_text(), strerror(ENOSPC)));
	assert_int_equal(stat("/dev/full", &s), 0);
	assert_true(S_ISCHR(s.st_mode));
}

static void a_second_writer_is_refused(void **state)
{
	(void)state;
	struct n2d_out first, second;
	put(path, "old");
	assert_int_equal(n2d_out_open(&first, path), 0);
	n2d_out_write(&first, "first", 5);
	assert_int_equal(n2d_out_open(&second, path), -1);
	assert_non_null(strstr(n2d_error_text(), "another process"));
	assert_int_equal(n2d_out_commit(&first), 0);
	holds(path, "first");
	put(path, "second");
	holds(path, "second");
}

static void what_cannot_be_is_said(void **state)
{
	(void)state;
	struct n2d_out o;
	struct n2d_map m;
	char inside[96], fifo[64];
	assert_int_equal(n2d_out_open(&o, folder), -1);
	assert_non_null(strstr(n2d_error_text(), folder));
	snprintf(inside, sizeof inside, "%s/none/a", folder);
	assert_int_equal(n2d_out_open(&o, inside), -1);
	assert_non_null(strstr(n2d_error_text(), inside));
	assert_int_equal(n2d_map_open(&m, inside), -1);
	assert_non_null(strstr(n2d_error_text(), inside));
	assert_int_equal(n2d_map_open(&m, folder), -1);
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(n2d_map_open(&m, fifo), -1);
	assert_non_null(strstr(n2d_error_text(), "regular"));
	n2d_map_close(&m);
	unlink(fifo);
}

static void write_for_ever(void)
{
	static char block[1 << 16];
	for (unsigned char c = 1;; c = c == 255 ? 1 : c + 1) {
		struct n2d_out o;
		memset(block, c, sizeof block);
		if (n2d_out_open(&o, path))
			_exit(1);
		for (int i = 0; i < 4; i++)
			n2d_out_write(&o, block, sizeof block);
		if (n2d_out_commit(&o))
			_exit(2);
	}
}

/* Not even one who gives up, or fails, takes what the user has beside the file. */
static void a_users_temporary_stays(void **state)
{
	(void)state;
	struct n2d_out o;
	char own[64];
	snprintf(own, sizeof own, "%s/a.tmp", folder);
	FILE *f = fopen(own, "w");
	assert_non_null(f);
	assert_true(fputs("precious", f) >= 0 && !fclose(f));
	put(path, "written");
	holds(own, "precious");
	assert_int_equal(n2d_out_open(&o, path), 0);
	n2d_out_cancel(&o);
	assert_int_equal(n2d_out_try(path), 0);
	holds(own, "precious");
	unlink(own);
}

/* Killed at any time: the file is whole, from one round. */
static void a_killed_writer_leaves_a_whole_file(void **state)
{
	(void)state;
	struct n2d_rng r;
	n2d_rng_init(&r, 56, 0);
	put(path, "x");
	int rounds = 0;
	for (int i = 0; i < 40; i++) {
		pid_t child = fork();
		if (!child)
			write_for_ever();
		usleep(1000 + n2d_rng_below(&r, 20000));
		kill(child, SIGKILL);
		int status;
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		struct n2d_map m;
		assert_int_equal(n2d_map_open(&m, path), 0);
		assert_true(m.size == 1 || m.size == 4 << 16);
		for (size_t j = 1; j < m.size; j++)
			assert_int_equal(m.data[j], m.data[0]);
		rounds += m.size > 1;
		n2d_map_close(&m);
	}
	assert_true(rounds > 0);
	put(path, "the temporary of a killed writer is reused");
	no_temporary();
}

/* From the second name on the directory's descriptor is of something else. */
static int take_away(void *arg, const char *name)
{
	(void)name;
	int null = open("/dev/null", O_RDONLY);
	assert_true(null >= 0);
	dup2(null, *(int *)arg);
	close(null);
	return 0;
}

static void half_a_directory_is_no_directory(void **state)
{
	(void)state;
	int next = open("/dev/null", O_RDONLY); /* the number that opendir's gets */
	close(next);
	assert_int_equal(n2d_dir_each(folder, take_away, &next), -1);
	assert_non_null(strstr(n2d_error_text(), folder));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commit_replaces_and_cancel_does_not),
		cmocka_unit_test(a_reader_keeps_what_it_opened),
		cmocka_unit_test(permissions_and_links_stay),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
		cmocka_unit_test(devices_are_written_directly),
		cmocka_unit_test(a_second_writer_is_refused),
		cmocka_unit_test(a_users_temporary_stays),
		cmocka_unit_test(what_cannot_be_is_said),
		cmocka_unit_test(a_killed_writer_leaves_a_whole_file),
		cmocka_unit_test(half_a_directory_is_no_directory),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
