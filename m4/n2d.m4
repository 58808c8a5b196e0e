# N2D_ISA(id, flags, host cpu or "any", includes, body, [always])
# Decides whether the instruction set's library is built: --disable-<id>, the host's processor
# family, and a program with a real intrinsic that must compile and link with the flags.
AC_DEFUN([N2D_ISA], [
m4_if([$1], [scalar], [enable_scalar=yes], [dnl everything falls back on it: no option
AC_ARG_ENABLE([$1], [AS_HELP_STRING([--disable-$1], [leave out the $1 kernels])], [], [enable_$1=yes])])
n2d_with_$1=no
m4_if([$6], [always],
[AS_IF([test "x$enable_$1" = xno], [n2d_why="--disable-$1"], [n2d_with_$1=yes; n2d_why=""])],
[AS_IF([test "x$enable_$1" = xno], [n2d_why="--disable-$1"],
  [case $host_cpu in
   $3)
    AC_MSG_CHECKING([whether $CC compiles and links $1])
    n2d_saved=$CFLAGS; CFLAGS="$CFLAGS $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[$4]], [[$5]])],
      [n2d_with_$1=yes; n2d_why=""], [n2d_why="$CC $2 does not compile it"])
    CFLAGS=$n2d_saved
    AC_MSG_RESULT([$n2d_with_$1]) ;;
   *) n2d_why="not for $host_cpu" ;;
   esac])])
AS_IF([test $n2d_with_$1 = yes],
  [AC_DEFINE([N2D_WITH_$1], [1], [The $1 kernels are compiled in])
   n2d_line=`printf '    %-12s on   %s' "$1" "$2"`],
  [n2d_line=`printf '    %-12s off  (%s)' "$1" "$n2d_why"`])
n2d_isa_summary="$n2d_isa_summary$n2d_line
"
AM_CONDITIONAL([WITH_]m4_toupper([$1]), [test $n2d_with_$1 = yes])
])

# N2D_TOOL(name, VAR, candidates, Debian package, what for)
# A line of the summary. Without an option: our programs look for it themselves when they need it.
AC_DEFUN([N2D_TOOL], [
AC_PATH_PROGS([$2], [$3])
AS_IF([test "x$$2" != x],
  [n2d_line=`printf '    %-12s on   %s' "$1" "$5"`],
  [n2d_line=`printf '    %-12s off  (not found; Debian: %s), so no %s' "$1" "$4" "$5"`])
n2d_package_summary="$n2d_package_summary$n2d_line
"
])

# N2D_PACKAGE(name, VAR, pkg-config module, header, library, function, Debian package, what for)
# --without-<name>; sets have_<name>, <VAR>_CFLAGS, <VAR>_LIBS, HAVE_<VAR>, N2D_VERSION_<VAR>.
AC_DEFUN([N2D_PACKAGE], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [do without $1 ($8)])], [], [with_$1=check])
have_$1=no
AS_IF([test "x$with_$1" = xno], [n2d_why="--without-$1"],
  [m4_ifval([$3],
    [PKG_CHECK_MODULES([$2], [$3], [have_$1=yes], [have_$1=no])],
    [AC_CHECK_HEADER([$4], [AC_CHECK_LIB([$5], [$6], [have_$1=yes; $2_LIBS=-l$5])])])
   n2d_why="not found; Debian: $7"
   m4_ifval([$3],
     [AS_IF([test $have_$1 = yes], [n2d_version=`$PKG_CONFIG --modversion $3`])],
     [AS_IF([test $have_$1 = yes],
       [n2d_version=
        for n2d_part in MAJOR MINOR PATCHLEVEL; do
          AC_COMPUTE_INT([n2d_number], [$2_VERSION_$n2d_part], [#include <$4>], [n2d_number=0])
          n2d_version=$n2d_version${n2d_version:+.}$n2d_number
        done])])
   AS_IF([test "x$with_$1" = xyes && test $have_$1 = no], [AC_MSG_ERROR([--with-$1: $1 not found (Debian: $7)])])])
AC_SUBST([$2_CFLAGS])
AC_SUBST([$2_LIBS])
AS_IF([test $have_$1 = yes],
  [AC_DEFINE([HAVE_$2], [1], [$1 is there])
   AC_DEFINE_UNQUOTED([N2D_VERSION_$2], ["$n2d_version"], [The version of $1])
   n2d_line=`printf '    %-12s on   %-8s %s' "$1" "$n2d_version" "$8"`],
  [n2d_line=`printf '    %-12s off  (%s), so no %s' "$1" "$n2d_why" "$8"`])
n2d_package_summary="$n2d_package_summary$n2d_line
"
])
