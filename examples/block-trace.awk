# awk -f block-trace.awk: what items waited and were served, how many there were at
# once, and how much of the time one was served, from the lines of block-trace.stp or
# socket-queue-trace.stp, sorted by time (sort -k2n).
function stayed(what, time,   key) {
	key = queue ", " what
	n[key]++
	sum[key] += time
	if (n[key] == 1 || time < min[key])
		min[key] = time
	if (time > max[key])
		max[key] = time
}
function elapse() {
	if (!(queue in last))
		first[queue] = $2
	else if (served[queue])
		busy[queue] += $2 - last[queue]
	last[queue] = $2
}
{ queue = $4 }
$1 == "add" {
	elapse()
	since[$3] = $2
	if (++waiting[queue] > longest[queue])
		longest[queue] = waiting[queue]
}
$1 == "run" && $3 in since {
	elapse()
	stayed("waiting", $2 - since[$3])
	delete since[$3]
	begun[$3] = $2
	waiting[queue]--
	served[queue]++
}
$1 == "done" && $3 in begun {
	elapse()
	stayed("served", $2 - begun[$3])
	delete begun[$3]
	served[queue]--
}
END {
	for (key in n)
		printf "%8d %10d %10d %10d  %s\n", n[key], min[key],
			sum[key] / n[key], max[key], key
	for (queue in longest) {
		printf "%s: at most %d waited at once", queue, longest[queue]
		if (last[queue] != first[queue])
			printf ", %d%% util", 100 * busy[queue] / \
				(last[queue] - first[queue])
		print ""
	}
}
