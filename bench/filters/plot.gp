# Plots for docs/BENCHMARKS.md, called by bench/filters/report.py with
#   data   blocks of "name" and points, two blank lines between them
#   n      how many blocks
#   style  query, add or space
#   out    the SVG to write
set terminal svg size 900,520 font "sans-serif,14" background rgb "white"
set output out
set key outside right top
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale x
# What the kinds are measured against: the limit and libbloom, or the two bounds.
set linetype 1 lc rgb "#444444" dt 2
set linetype 2 lc rgb "#999999"
set linetype 3 lc rgb "#1f77b4"
set linetype 4 lc rgb "#d62728"
set linetype 5 lc rgb "#2ca02c"
set linetype 6 lc rgb "#9467bd"
set linetype 7 lc rgb "#ff7f0e"
set linetype 8 lc rgb "#8c564b"
set linetype 9 lc rgb "#17becf"
set linetype 10 lc rgb "#e377c2"
set linetype 11 lc rgb "#bcbd22"
set linetype 12 lc rgb "#003366"
set linetype 13 lc rgb "#7f0000"
set linetype cycle 13
if (style eq "space") {
    set title "Bits per item (plans for a million items)"
    set xlabel "false-positive rate"
    set ylabel "bits per item"
    set xrange [0.1:1e-6] reverse
    set yrange [0:*]
    set format x "10^{%L}"
    plot for [i = 0:n - 1] data index i using 1:2 with lines lw 2 lt i + 1 title columnheader(1)
} else {
    set title style eq "add" ? "Add, 64-bit integers, 1 %" : "Query of keys that are in, 64-bit integers, 1 %"
    set xlabel "keys"
    set ylabel "ns per key"
    set logscale y
    set format x "%.0s %c"
    plot for [i = 0:n - 1] data index i using 1:2 with linespoints lw 2 pt 7 ps 0.6 lt i + 1 \
        title columnheader(1)
}
