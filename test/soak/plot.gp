# What soak.py measured, against minutes.  Called with data, snapshot_from and
# snapshot_to, between which the snapshot was open, and minutes, the whole time.
set terminal svg size 1000,900 dynamic background rgb 'white' font 'sans,12'
set multiplot layout 4,1 title 'A steady load, with a snapshot kept open in the shaded time' noenhanced
set grid ytics lc rgb '#dddddd'
set yrange [0:*]
set key above left noenhanced
set xrange [0:minutes]
set rmargin 4
set lmargin 10
set object rectangle from snapshot_from, graph 0 to snapshot_to, graph 1 fc rgb '#eeeeee' behind
set ylabel 'MB'
plot data using 'minute':'pools' with lines lw 2 title 'counters, with indexes', \
	data using 'minute':'holds' with lines lw 2 title 'holds', \
	data using 'minute':'stays' with lines lw 2 title 'stays'
set ylabel 'bytes'
plot data using 'minute':'entry' with lines lw 2 title 'ledger: bytes an entry, with indexes'
set ylabel 'kB'
plot data using 'minute':'memory' with lines lw 2 title 'memory of the largest backend'
set ylabel 'ms'
set xlabel 'minutes'
plot data using 'minute':'latency' with lines lw 2 title 'latency of a script of the load'
unset multiplot
