# Plots for docs/ACCURACY.md, called by bench/distinct/report.py with
#   data   blocks of "name" and points, two blank lines between them
#   n      how many blocks: lines, then points; there are as many of both for errors, and two lines
#          for each block of points for coverage
#   style  error or coverage
#   out    the SVG to write
set terminal svg size 900,520 font "sans-serif,14" background rgb "white"
set output out
set key outside right top
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale x
set format x "10^{%T}"
set xlabel "distinct keys"
set linetype 1 lc rgb "#1f77b4"
set linetype 2 lc rgb "#d62728"
set linetype 3 lc rgb "#2ca02c"
h = style eq "error" ? n / 2 : n * 2 / 3
if (style eq "error") {
    set title "Standard error of the count, predicted (lines) and measured (points)"
    set ylabel "percent"
    set yrange [0:2.5]
    plot for [i = 0:h - 1] data index i using 1:2 with lines lw 2 lt i + 1 \
        title columnheader(1), \
        for [i = h:n - 1] data index i using 1:2 with points pt 7 ps 0.7 lt i - h + 1 \
        title columnheader(1)
} else {
    set title "Share of the 99 % intervals that contain the true number"
    set ylabel "percent"
    set yrange [98.4:100.1]
    plot 99 with lines lc rgb "#444444" lw 1 notitle, \
        for [i = 0:h - 1] data index i using 1:2 with lines lw 1 dt 2 lt int(i / 2) + 1 \
        title columnheader(1), \
        for [i = h:n - 1] data index i using 1:2 with points pt 7 ps 0.7 lt i - h + 1 \
        title columnheader(1)
}
