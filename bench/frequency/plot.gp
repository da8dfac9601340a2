# Plots for docs/FREQUENCY.md, called by bench/frequency/report.py with
#   data   blocks of "name" and points, two blank lines between them
#   n      how many blocks
#   style  error or contest
#   out    the SVG to write
set terminal svg size 900,520 font "sans-serif,14" background rgb "white"
set output out
set key outside right top
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale y
set linetype 1 lc rgb "#1f77b4"
set linetype 2 lc rgb "#d62728"
set linetype 3 lc rgb "#2ca02c"
set linetype 4 lc rgb "#9467bd"
set linetype 5 lc rgb "#ff7f0e"
set linetype 6 lc rgb "#8c564b"
set linetype 7 lc rgb "#17becf"
if (style eq "error") {
    set title "Mean error over all keys of the URL log"
    set xlabel "KiB"
    set ylabel "mean distance of the estimate from the true count"
    set logscale x 2
    plot for [i = 0:n - 1] data index i using 1:2 with linespoints lw 2 pt 7 ps 0.6 lt i + 1 \
        title columnheader(1)
} else {
    set title "Mean error of count-sketch divided by that of count-min"
    set xlabel "exponent of the stream: how unequal its keys are"
    set ylabel "ratio"
    set linetype 5 lc rgb "#1f77b4" dt 2
    set linetype 6 lc rgb "#d62728" dt 2
    set linetype 7 lc rgb "#2ca02c" dt 2
    set linetype 8 lc rgb "#9467bd" dt 2
    plot 1 with lines lc rgb "#444444" lw 1 notitle, \
        for [i = 0:n - 1] data index i using 1:2 with linespoints lw 2 pt 7 ps 0.6 lt i + 1 \
        title columnheader(1)
}
