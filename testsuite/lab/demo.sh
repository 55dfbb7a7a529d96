#!/bin/bash
# The main job, for a person to look at: first on x86_64, where QEMU has no PMU,
# a latency histogram with software counts; then on aarch64, where it has one,
# cycles and instructions of each call.
set -u
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB=${LAB:-$tree/testsuite/lab/lab}

show() {
	printf '\n== %s\n   load: %s\n\n' "$1" "$2"
}

load='for i in 1 2 3; do
	sqlite3 /tmp/demo.db "create table if not exists t(a, b);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
		insert into t select i, hex(randomblob(50)) from n;
		select count(*), max(length(b)) from t where b like '\''%A1%'\'';" || exit
done
hackbench --pipe --groups 1 --loops 50'
show "x86_64: vfs_read, with its own page faults and switches" "sqlite3, three times 3000 rows, and hackbench"
"$LAB" run --load "$load" -- stap "$tree/examples/demo.stp" || exit
show "aarch64, with a PMU: vfs_read, cycles and instructions of each call" "the same"
"$LAB" run --arch aarch64 --icount --load "$load" -- \
	stap "$tree/examples/routine-counts.stp" vfs_read
