# Bars, in groups by cell, one colour a variant; the whiskers are the lowest and
# the highest round.  Called with data, blocks (how many variants), what,
# and own, which is 1 where the values have units of their own.
set terminal svg size (own ? 1400 : 1000),(own ? 560 : 420) dynamic background rgb 'white' font 'sans,12'
set title what noenhanced
set key outside right top noenhanced
set grid ytics lc rgb '#dddddd'
set style fill solid 0.85
set boxwidth 1 relative
set errorbars 0.3
set yrange [0:*]
set ylabel 'per second'
if (own) {
	set logscale y
	set yrange [*:*]
	set ylabel 'value in the unit named, log scale'
	set xtics rotate by -20
}
width = 0.8 / blocks
set xrange [0.5:*]
plot data index 0 using 1:3:xticlabels(2) with dots lc rgb '#ffffff' notitle, \
	for [i = 0:blocks - 1] data index i \
	using ($1 + (i - (blocks - 1) / 2.0) * width):3:4:5:(width * 0.92) \
	with boxerrorbars lc i + 1 title columnheader(1)
