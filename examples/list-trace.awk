# awk -f list-trace.awk: how long items stayed in lists, from the lines of
# list-trace.stp, sorted by time (sort -k2n).
$1 == "add" {
	if ($3 in since) {
		key = name[$3] ", " list[$3]
		stayed = $2 - since[$3]
		n[key]++
		sum[key] += stayed
		if (n[key] == 1 || stayed < min[key])
			min[key] = stayed
		if (stayed > max[key])
			max[key] = stayed
	}
	since[$3] = $2
	list[$3] = $4
	name[$3] = $5
}
END {
	for (key in n)
		printf "%8d %10d %10d %10d  %s\n", n[key], min[key],
			sum[key] / n[key], max[key], key
}
