# awk -f queue-trace.awk: what items waited, from the lines of queue-trace.stp,
# sorted by time (sort -k2n).
$1 == "add" { since[$3] = $2 }
$1 == "remove" && $3 in since {
	wait = $2 - since[$3]
	delete since[$3]
	n[$4]++
	sum[$4] += wait
	if (n[$4] == 1 || wait < min[$4])
		min[$4] = wait
	if (wait > max[$4])
		max[$4] = wait
}
END {
	for (f in n)
		printf "%8d %10d %10d %10d  %s\n", n[f], min[f], sum[f] / n[f],
			max[f], f
}
