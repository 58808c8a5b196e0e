#!/bin/sh
# The report in headless Chromium (Debian: chromium), at the widths of a phone, of a narrow window and of a desk, light and dark, one machine and two: nothing on the
# console, no request to the network, nothing wider than the window. The pictures are kept, to be looked at. In the build directory:
#	browser.sh [DIRECTORY]		(of the pictures and pages; default report-shots)
set -u
passed=0 failed=0
out=${1:-report-shots}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "skipped: no chromium (Debian: chromium)"; exit 77; }
[ -x ./n2d-bench ] || { echo "skipped: built without n2d-bench"; exit 77; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out" || exit 99
out=$(cd "$out" && pwd)

good() { passed=$((passed + 1)); }
bad() {
	echo "FAIL $*"
	failed=$((failed + 1))
}

# open FILE WIDTH HEIGHT SCHEME OPTION...: its console in console, addresses asked for in asked
open() {
	file=$1 size=$2,$3
	[ "$4" = dark ] && preferred=0 || preferred=1
	shift 4
	set -- --headless --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking --disable-component-update --disable-sync \
		--disable-default-apps --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$scratch/profile" --enable-logging=stderr \
		--log-net-log="$scratch/net.json" --blink-settings=preferredColorScheme=$preferred --window-size="$size" "$@" "file://$file"
	[ "$(id -u)" != 0 ] || set -- --no-sandbox "$@"
	timeout 120 "$browser" "$@" >"$scratch/dom" 2>"$scratch/log" || bad "$file: the browser's exit code is $?"
	grep 'CONSOLE' "$scratch/log" >"$scratch/console"
	# Chromium asks its maker for things whatever the page is.
	grep -oE '"(https?|wss?|ftp)://[^"]*' "$scratch/net.json" | grep -vE '://(~notfound|([a-z0-9.-]*\.)?(google|googleapis|gstatic)\.com)' | sort -u >"$scratch/asked"
}
quiet() { # WHAT
	[ -s "$scratch/console" ] && bad "$1: on the console: $(head -n 1 "$scratch/console")" || good
	[ -s "$scratch/asked" ] && bad "$1: asks the network for $(head -n 1 "$scratch/asked")" || good
}

# Whether something sticks out of a page at this width (wide tables scroll in boxes of their own), in the title: measured in a frame, since a
# window of headless Chromium is some 500 pixels wide at least.
fits() { # PAGE WIDTH
	sed 's/<meta http-equiv[^>]*>//; s|</body>|<script>parent.postMessage("wide " + (document.documentElement.scrollWidth - innerWidth) + " of " + innerWidth + ", Table 1 " + Math.max(0, ...[...document.querySelectorAll(".t1")].map(t => t.scrollWidth - t.parentNode.clientWidth)), "*")</script></body>|' \
		"$out/$1.html" >"$scratch/wide.html"
	echo "<script>onmessage = e => document.title = e.data</script><iframe src=wide.html style='width:$2px;height:800px;border:0'></iframe>" >"$scratch/frame.html"
	open "$scratch/frame.html" 1400 900 light --virtual-time-budget=3000 --dump-dom
	grep -q "<title>wide \(0\|-[0-9]*\) of $2," "$scratch/dom" && good || bad "$1: wider than a window of $2: $(grep -o '<title>[^<]*' "$scratch/dom")"
}

set -- # machines whose results are kept
for machine in "${srcdir:-.}"/results/*/; do
	[ -f "$machine/layers.csv" ] && set -- "$@" "${machine%/}"
done
./n2d-bench report "$1" -o "$out/one.html" && ./n2d-bench report "$@" "again=$1" -o "$out/two.html" || exit 1

# What this script looks for is found where it is: in pages that ask and complain.
sed 's/<meta http-equiv[^>]*>//; s|</body>|<img src="http://n2d.invalid/x.png"><script>console.error("here")</script></body>|' "$out/one.html" >"$scratch/loud.html"
open "$scratch/loud.html" 1300 1000 light --screenshot="$scratch/loud.png"
grep -q here "$scratch/console" && grep -q n2d.invalid "$scratch/asked" && good || bad "a page that asks and complains is not found out"
# The page's own policy forbids both.
sed 's|</body>|<img src="http://n2d.invalid/x.png"><script>document.title = "run"</script></body>|' "$out/one.html" >"$scratch/evil.html"
open "$scratch/evil.html" 1300 1000 light --dump-dom
! grep -q n2d.invalid "$scratch/asked" && ! grep -q '<title>run' "$scratch/dom" && grep -q 'Content Security Policy' "$scratch/console" && good ||
	bad "the page's policy allows a request or a script"

for page in one two; do
	for scheme in light dark; do
		open "$out/$page.html" 390 844 $scheme --screenshot="$out/$page-phone-$scheme.png"
		quiet "$page, phone, $scheme"
		open "$out/$page.html" 1300 900 $scheme --screenshot="$out/$page-desk-$scheme.png"
		quiet "$page, desk, $scheme"
	done
	for width in 390 1200 1300; do
		fits "$page" $width
		[ $width = 390 ] || { grep -q 'Table 1 \(0\|-[0-9]*\)<' "$scratch/dom" && good || bad "$page: Table 1 is cut at $width: $(grep -o '<title>[^<]*' "$scratch/dom")"; }
		open "$out/$page.html" $width 9000 light --screenshot="$out/$page-whole-$width.png"
	done
done
# A small phone, and names without a place to break.
mkdir "$scratch/long"
printf 'schema,id,where,op,seconds,calls,flops\nprofile/1,"decode/avx512/model=tiny,beam=4,cache=yes,threads=2",encoder,gemm,1,1,2\n' >"$scratch/long/profile.csv"
cp "$1"/*.csv "$scratch/long"
./n2d-bench report "$scratch/long" -o "$out/long.html" && fits long 320
echo "$passed passed, $failed failed; pictures in $out"
[ "$failed" = 0 ]
