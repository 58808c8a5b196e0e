#include "config.h"

#include "bench/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/error.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<link rel=\"icon\" href=\"data:,\">\n";

static const char style[] =
	"<style>\n"
	":root{--bg:#fff;--fg:#1b1f24;--soft:#5b6570;--line:#d9dee4;--card:#f5f7f9;--accent:#0072b2;--good:#1a7f4b;--bad:#c0392b;--shade:#0005;--lift:0%}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e8ebee;--soft:#9ea8b3;--line:#343b43;--card:#1d2228;--accent:#5cb8ee;"
	"--good:#58c98b;--bad:#ff8a7a;--shade:#fff6;--lift:40%}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:80rem;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}\n"
	"h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.3rem;margin:2.6rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}\n"
	"h3{font-size:1.02rem;margin:1.3rem 0 .3rem}h4{font-size:.92rem;margin:.8rem 0 .2rem;color:var(--soft)}p{margin:.4rem 0;max-width:48rem}a{color:var(--accent)}\n"
	"nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.8rem 0}\n"
	".soft,figcaption,.notes{color:var(--soft);font-size:.9rem}\n"
	".command{margin:.3rem 0 .9rem;max-width:none}.command code{font-size:.78rem;color:var(--soft);overflow-wrap:anywhere}.command::before{content:'$ ';color:var(--soft)}\n"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:.7rem;margin:.7rem 0}\n"
	".tile{background:var(--card);border-radius:.5rem;padding:.8rem 1rem}.tile b{display:block;font-size:1.65rem;line-height:1.25;color:var(--accent)}\n"
	".tile span{display:block;font-size:.92rem}.tile small{display:block;color:var(--soft);margin-top:.25rem}\n"
	".grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,31rem),1fr));gap:.4rem 1.6rem}\n"
	"figure{margin:.4rem 0;min-width:0;max-width:40rem;break-inside:avoid}figcaption b{color:var(--fg)}\n"
	"svg{display:block;width:100%;height:auto}svg text{font:15px system-ui,sans-serif;fill:var(--soft)}@media (max-width:40rem){svg text{font-size:17px}.bar{width:3rem!important}td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:8.4rem}}\n"
	"svg .axis{stroke:var(--line);stroke-width:1}svg .ring{fill:none;stroke:var(--fg);stroke-width:1.6}\n"
	"svg .c{stroke:var(--c);stroke:color-mix(in srgb,var(--c),#fff var(--lift));fill:none;stroke-width:2;stroke-linejoin:round}\n"
	"svg .dashed{stroke-dasharray:6 4}svg .d{fill:var(--c);fill:color-mix(in srgb,var(--c),#fff var(--lift))}\n"
	"svg text.name{fill:var(--c);fill:color-mix(in srgb,var(--c),#fff var(--lift));font-weight:600}\n"
	".scroll{overflow-x:auto;margin:.5rem 0;background:linear-gradient(to right,var(--bg) 1rem,transparent) 0/2.5rem 100% no-repeat local,linear-gradient(to left,var(--bg) 1rem,transparent) 100%/2.5rem 100% no-repeat local,linear-gradient(to right,var(--shade),transparent) 0/.9rem 100% no-repeat,linear-gradient(to left,var(--shade),transparent) 100%/.9rem 100% no-repeat}table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.28rem .5rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}\n"
	"th{color:var(--soft);font-weight:600;vertical-align:bottom;white-space:normal}tr:first-child>th:first-child,td:first-child,.left{text-align:left}\n"
	"td:first-child{font-weight:600}.stated{color:var(--soft)}.measured{background:color-mix(in srgb,var(--fg) 4%,transparent)}.wrap{white-space:normal;min-width:16rem}.narrow{white-space:normal;min-width:6.5rem}sup,sub{line-height:0}\n"
	".group{border-left:2px solid var(--line)}.good{color:var(--good)}.bad{color:var(--bad)}\n"
	".bar{display:inline-block;width:6rem;height:.7em;background:var(--line);border-radius:.2em;margin-right:.5em;overflow:hidden;print-color-adjust:exact}\n"
	".t1{font-size:.82rem}.t1 th,.t1 td{padding:.28rem .3rem}.t1 .bar{width:2rem}.t1 td:first-child,.t1 tr:first-child>th:first-child{position:sticky;left:0;background:var(--bg);white-space:normal;min-width:7.5rem}.top td{vertical-align:top}.bar i{display:block;height:100%;background:var(--accent);print-color-adjust:exact}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;font-size:.9rem;margin:.3rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
	"details{margin:.5rem 0}summary{cursor:pointer;color:var(--accent)}\n"
	"@media print{body{max-width:none;font-size:12px;padding:0}nav{display:none}h2,h3{break-after:avoid}.scroll{overflow:visible}table{font-size:10px}.grid{grid-template-columns:1fr 1fr}\n"
	"th,td{padding:.15rem .3rem}.t1{font-size:8px}.t1 th,.t1 td{padding:.15rem}.t1 .bar{display:none}.t1 .narrow{min-width:4rem}"
	".t1 td:first-child,.t1 tr:first-child>th:first-child{min-width:4.5rem}.tile{border:1px solid var(--line)}tr{break-inside:avoid}}\n"
	"@media print{:root{--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--card:#f5f5f5;--accent:#0072b2;--good:#1a7f4b;--bad:#c0392b;--shade:transparent;--lift:0%}}\n"
	"</style>\n</head>\n<body>\n";

const char *as_text(const char *format, ...)
{
	static char room[32][256];
	static unsigned at;
	va_list ap;
	va_start(ap, format);
	vsnprintf(room[++at % 32], sizeof *room, format, ap);
	va_end(ap);
	return room[at % 32];
}

static void escaped(struct html *h, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&': n2d_out_write(&h->o, "&amp;", 5); break;
		case '<': n2d_out_write(&h->o, "&lt;", 4); break;
		case '>': n2d_out_write(&h->o, "&gt;", 4); break;
		case '"': n2d_out_write(&h->o, "&quot;", 6); break;
		case '\'': n2d_out_write(&h->o, "&#39;", 5); break;
		default: /* control characters are not allowed */
			n2d_out_write(&h->o, (unsigned char)*s < ' ' || *s == 0x7f ? " " : s, 1);
		}
}

void html(struct html *h, const char *markup, ...)
{
	va_list ap;
	va_start(ap, markup);
	for (size_t n; *markup; markup += n) {
		n = strcspn(markup, "$");
		n2d_out_write(&h->o, markup, n);
		if (markup[n]) {
			escaped(h, va_arg(ap, const char *));
			n++;
		}
	}
	va_end(ap);
}

int html_open(struct html *h, const char *path, const char *title)
{
	if (n2d_out_open(&h->o, path))
		return -1;
	n2d_out_write(&h->o, head, sizeof head - 1);
	html(h, "<title>$</title>\n", title);
	n2d_out_write(&h->o, style, sizeof style - 1); /* it holds a $ */
	return 0;
}

int html_commit(struct html *h)
{
	html(h, "</body>\n</html>\n");
	return n2d_out_commit(&h->o);
}

void html_cancel(struct html *h) { n2d_out_cancel(&h->o); }

void html_formula(struct html *h, const char *s)
{
	for (char one[2] = ""; *s; s++) {
		one[0] = *s;
		if ((*s == '^' || *s == '_') && s[1]) {
			one[0] = *++s;
			html(h, s[-1] == '^' ? "<sup>$</sup>" : "<sub>$</sub>", one);
		} else if (strncmp(s, "log2 ", 5) == 0) {
			html(h, "log<sub>2</sub> ");
			s += 4;
		} else if (strncmp(s, "+-", 2) == 0 || strncmp(s, "..", 2) == 0) {
			html(h, *s++ == '+' ? "± " : "–");
		} else {
			html(h, "$", one);
		}
	}
}

void html_command(struct html *h, const char *command) { html(h, "<p class=\"command\"><code>$</code></p>\n", command); }

void html_word(struct html *h, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=,./:@%";
	int quoted = !*word || word[strspn(word, plain)];
	html(h, quoted ? " '" : " ");
	for (char one[2] = ""; (one[0] = *word); word++)
		html(h, *word == '\'' ? "'\\''" : "$", one);
	html(h, quoted ? "'" : "");
}

/* ---- downloads */

enum { LINK_MOST = 3 << 19 }; /* 4/3 of it in base64 are 2 MiB */

static void base64(struct html *h, const unsigned char *p, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i;
		unsigned v = (unsigned)p[i] << 16 | (have > 1 ? (unsigned)p[i + 1] << 8 : 0) | (have > 2 ? p[i + 2] : 0);
		char four[4] = {digit[v >> 18], digit[v >> 12 & 63], have > 1 ? digit[v >> 6 & 63] : '=',
				have > 2 ? digit[v & 63] : '='};
		n2d_out_write(&h->o, four, 4);
	}
}

/* As gzip writes it; the caller frees it. NULL: there is no zlib, or no memory. */
static unsigned char *squeeze(const struct n2d_map *m, size_t *size)
{
#ifdef HAVE_ZLIB
	z_stream z = {0};
	if (m->size > 0x7fffffff || deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	uLong room = deflateBound(&z, (uLong)m->size);
	unsigned char *to = malloc(room);
	z.next_in = (Bytef *)m->data;
	z.avail_in = (uInt)m->size;
	z.next_out = to;
	z.avail_out = (uInt)room;
	int done = to && deflate(&z, Z_FINISH) == Z_STREAM_END;
	*size = z.total_out;
	deflateEnd(&z);
	if (done)
		return to;
	free(to);
#endif
	(void)m, (void)size;
	return NULL;
}

int html_download(struct html *h, const char *path, const char *name)
{
	struct n2d_map m;
	size_t size;
	if (n2d_map_open(&m, path))
		return -1;
	unsigned char *gz = squeeze(&m, &size);
	size = gz ? size : m.size;
	if (size <= LINK_MOST) {
		html(h, "<a download=\"$$\" href=\"data:$;base64,", name, gz ? ".gz" : "", gz ? "application/gzip" : "text/plain");
		base64(h, gz ? gz : m.data, size);
		html(h, "\">$</a> ($ KiB)", name, as_text("%zu", (m.size + 1023) / 1024));
	} else {
		html(h, "$ ($ MiB: too large for a link in a page)", name, as_text("%zu", m.size >> 20));
	}
	free(gz);
	n2d_map_close(&m);
	return 0;
}
