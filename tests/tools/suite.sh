# Shared by the suite runners (sourced, bash): counting, budgets, the closing line, the result file.
# The sourcing script sets suite_dir (logs; the result goes beside it), and suite where it has budgets.
#
# Every suite, and every test program of one, ends with the plain line
#   N passed, N failed, N skipped
# With CI=true a skipped test makes its suite fail: a suite that silently does not run proves nothing.

passed=0 failed=0 skipped=0
programs_s=0 used_ms=0           # of all programs: the sum of their seconds, and of their processor time (user and system)
failures=() unstable=() over=()  # programs by name; lines for the end of the suite
declare -A figures_of verdict_of # of each program that failed
declare -A budget_of             # seconds, of the programs that have a row in tests/tools/suites
plain_line='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'
target=$([[ ${SELVEDGE_CHECK:-} == full ]] && echo full || echo check)

# suite_rows SUITE TARGET: "PROGRAM SECONDS SETTINGS..." of each row of the table.
suite_rows() {
	awk -v suite="$1" -v target="$2" '!/^#/ && $1 == suite && index("," $3 ",", "," target ",") {
		printf "%s %s", $2, $4; for (i = 5; i <= NF; i++) printf " %s", $i; print "" }' tests/tools/suites
}
while read -r name seconds _; do
	budget_of[$name]=$seconds
done < <([[ -z ${suite:-} ]] || suite_rows "$suite" "$target")

# suite_row STATUS NAME SECONDS [TEXT]: one line of the suite's report, the seconds beside the budget.
# A program over its budget is named at the end; nothing fails for it.
suite_row() {
	local budget=${budget_of[$2]:-}
	printf '  %-5s %-44s %4ss %8s  %s\n' "$1" "$2" "$3" "${budget:+of ${budget}s}" "${4:-}"
	[[ -n $budget ]] && (($3 > budget)) && over+=("OVER $suite $2: $3 s of $budget s")
	return 0
}

# suite_show LOG: the failures in a log, and its last lines.
suite_show() {
	grep -nE '^ *(FAIL|not ok|ERROR)' "$1" | head -n 30 | sed 's/^/    ! /'
	tail -n 40 "$1" | sed 's/^/    | /'
}

# suite_program NAME TIMEOUT COMMAND...: runs a program that ends with the plain line and adds its
# figures. Without that line, or with a status that contradicts it, the program has failed.
# The processor time is that of the program and its children; of a container, which is not its child, it has none.
suite_program() {
	local name=$1 limit=$2 log=$suite_dir/$1.log start=$SECONDS rc last shown p=0 f=0 s=0 user system used TIMEFORMAT='%3U %3S'
	shift 2
	mkdir -p "$(dirname "$log")"
	# bash ignores these signals in what it starts in the background (suite_pool)
	{ time timeout --kill-after=20 "$limit" env --default-signal=INT,QUIT "$@" >"$log" 2>&1 </dev/null; } 2>"$log.used"
	rc=$?
	read -r user system < <(grep -xE '[0-9.]+ [0-9.]+' "$log.used")
	rm -f "$log.used"
	used=$((10#0${user/./} + 10#0${system/./}))
	programs_s=$((programs_s + SECONDS - start)) used_ms=$((used_ms + used))
	last=$(tail -n 1 "$log" | tr -d '\r')
	if [[ $last =~ $plain_line ]]; then
		p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[3]}
	else
		last="no closing line, status $rc"
	fi
	((rc == 124 || rc == 137)) && last="stopped after ${limit}s"
	# a program may end non-zero for its skipped tests alone
	if ((p + f + s == 0 || (rc != 0 && f + s == 0))); then
		f=$((f + 1))
		[[ $last =~ $plain_line ]] && last="status $rc, though: $last"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	figures="$p $f $s"
	printf -v shown 'cpu %3ss  %s' $(((used + 500) / 1000)) "$last"
	if ((f > 0)); then
		failures+=("$name") figures_of[$name]=$figures verdict_of[$name]=$last
		suite_row FAIL "$name" $((SECONDS - start)) "$shown"
		suite_show "$log"
	elif ((s > 0)); then
		suite_row skip "$name" $((SECONDS - start)) "$shown"
		grep -i skip "$log" | grep -Ev "$plain_line" | sed 's/^/    | /' | head -n 20
	else
		suite_row ok "$name" $((SECONDS - start)) "$shown"
	fi
}

# suite_pool LANES RUN NAME...: `RUN NAME` for each name, LANES at the same time: most programs wait more than they
# compute. A program's lines appear when it has ended.
suite_pool() {
	local lanes=$1 run=$2 state=$suite_dir/pool name pid p f s seconds used number=0 running=0
	local -A number_of
	shift 2
	rm -rf "$state"
	mkdir -p "$state"
	for name in "$@" ""; do # the empty name waits for the last ones
		while ((running == lanes)) || [[ -z $name && $running != 0 ]]; do
			wait -n -p pid
			running=$((running - 1))
			cat "$state/${number_of[$pid]}.out"
			if read -r p f s seconds used <"$state/${number_of[$pid]}.counts"; then
				passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
				programs_s=$((programs_s + seconds)) used_ms=$((used_ms + used))
			else
				failed=$((failed + 1))
			fi
			mapfile -t -O ${#over[@]} over < <(tail -n +2 "$state/${number_of[$pid]}.counts")
		done
		[[ -n $name ]] || break
		number=$((number + 1))
		(
			passed=0 failed=0 skipped=0 programs_s=0 used_ms=0 over=()
			"$run" "$name"
			printf '%s\n' "$passed $failed $skipped $programs_s $used_ms" "${over[@]}" >"$state/$number.counts"
		) >"$state/$number.out" 2>&1 &
		number_of[$!]=$number
		running=$((running + 1))
	done
}

# Failures that a second run cannot excuse (docs/develop/testing.md): a crash of a program of ours, a sanitizer's
# report, leftovers. A program that was stopped by its limit has had its time twice already.
never_retried='AddressSanitizer|LeakSanitizer|runtime error:|sanitizer report|left behind|not clean|ended with -?[0-9]|SIGSEGV|SIGABRT'
most_retried=2

# suite_retry PREPARE RUN: the end of a suite whose tests meet real peers or emulated machines. A failed
# program is run once more by `RUN NAME`, which calls suite_program, after `PREPARE NAME...` for all of them.
# If it passes, its new figures count and suite_end prints a line UNSTABLE with its name. When more than
# a few programs have failed, the cause is not the machine, and none is retried.
suite_retry() {
	local prepare=$1 run=$2 name log why first p f s names=()
	for name in "${failures[@]}"; do
		log=$suite_dir/$name.log
		if ((${#failures[@]} > most_retried)); then
			echo "  $name is not retried: ${#failures[@]} programs have failed"
		elif [[ ${verdict_of[$name]} == stopped* ]]; then
			echo "  $name is not retried: ${verdict_of[$name]}"
		elif why=$(grep -vE '^ *ok ' "$log" | grep -m 1 -oE "$never_retried"); then
			echo "  $name is not retried: $why"
		else
			names+=("$name")
		fi
	done
	((${#names[@]} > 0)) || return 0
	echo "  retried alone: ${names[*]}"
	"$prepare" "${names[@]}"
	for name in "${names[@]}"; do
		log=$suite_dir/$name.log
		mv "$log" "$log.first"
		first=${figures_of[$name]}
		read -r p f s <<<"$first"
		passed=$((passed - p)) failed=$((failed - f)) skipped=$((skipped - s))
		failures=()
		"$run" "$name"
		((${#failures[@]} == 0)) || continue
		if ((${figures%% *} < p)); then
			echo "  $name: fewer tests passed alone than before: $figures after $first"
			failed=$((failed + 1))
			continue
		fi
		suite_show "$log"
		unstable+=("UNSTABLE $name: failed once, passed alone ($suite_dir/$name.log.first)")
	done
}

# suite_end NAME: programs over their budget, unstable programs, the closing line; the suite's status.
suite_end() {
	local result="$passed passed, $failed failed, $skipped skipped"
	echo "$result" >"$suite_dir.result"
	((programs_s + used_ms == 0)) || echo "  $SECONDS s; its programs: $programs_s s, of these $((used_ms / 1000)) s of processor time"
	printf '%s\n' "${over[@]}" "${unstable[@]}" | sed '/^$/d' | tee "$suite_dir.notes"
	echo "$result"
	((failed == 0)) || return 1
	[[ ${CI:-} != true || $skipped == 0 ]]
}
