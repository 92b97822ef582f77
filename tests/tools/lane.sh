# Shared by the lane runners (sourced, bash): counting, the closing line, the result file.
#
# Every lane, and every test program of one, ends with the plain line
#   N passed, N failed, N skipped
# With CI=true a skipped test makes its lane fail: a lane that silently does not run proves nothing.

passed=0 failed=0 skipped=0
failures=() unstable=()          # programs by name; lines for the end of the lane
declare -A figures_of verdict_of # of each program that failed
plain_line='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'

# lane_row STATUS NAME SECONDS [TEXT]: one line of the lane's report.
lane_row() {
	printf '  %-5s %-40s %4ss  %s\n' "$1" "$2" "$3" "${4:-}"
}

# lane_show LOG: what failed in it, and its last lines.
lane_show() {
	grep -nE '^ *(FAIL|not ok|ERROR)' "$1" | head -n 30 | sed 's/^/    ! /'
	tail -n 40 "$1" | sed 's/^/    | /'
}

# lane_program NAME TIMEOUT COMMAND...: runs a program that ends with the plain line and adds its
# figures. Without that line, or with a status that contradicts it, the program has failed.
lane_program() {
	local name=$1 limit=$2 log=$lane_dir/$1.log start=$SECONDS rc last p=0 f=0 s=0
	shift 2
	mkdir -p "$(dirname "$log")"
	timeout --kill-after=20 "$limit" "$@" >"$log" 2>&1 </dev/null
	rc=$?
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
	if ((f > 0)); then
		failures+=("$name") figures_of[$name]=$figures verdict_of[$name]=$last
		lane_row FAIL "$name" $((SECONDS - start)) "$last"
		lane_show "$log"
	elif ((s > 0)); then
		lane_row skip "$name" $((SECONDS - start)) "$last"
		grep -i skip "$log" | grep -Ev "$plain_line" | sed 's/^/    | /' | head -n 20
	else
		lane_row ok "$name" $((SECONDS - start)) "$last"
	fi
}

# What a second run cannot put right (docs/decisions/074): something of ours that crashed, a sanitizer's
# report, something left behind. And a program that was stopped has had its time twice already.
never_again='AddressSanitizer|LeakSanitizer|runtime error:|sanitizer report|left behind|not clean|ended with -?[0-9]|SIGSEGV|SIGABRT'
second_runs=2

# lane_again PREPARE RUN: the end of a lane whose tests meet real peers or emulated machines. A program that
# failed is run once more by `RUN NAME`, which calls lane_program, after `PREPARE NAME...` for all of them.
# Passed then, its new figures count, and a line of lane_end names it. When more than a few have failed, it is
# not the machine.
lane_again() {
	local prepare=$1 run=$2 name log why first p f s names=()
	for name in "${failures[@]}"; do
		log=$lane_dir/$name.log
		if ((${#failures[@]} > second_runs)); then
			echo "  $name is not run again: ${#failures[@]} programs have failed"
		elif [[ ${verdict_of[$name]} == stopped* ]]; then
			echo "  $name is not run again: ${verdict_of[$name]}"
		elif why=$(grep -vE '^ *ok ' "$log" | grep -m 1 -oE "$never_again"); then
			echo "  $name is not run again: $why"
		else
			names+=("$name")
		fi
	done
	((${#names[@]} > 0)) || return 0
	echo "  once more, alone: ${names[*]}"
	"$prepare" "${names[@]}"
	for name in "${names[@]}"; do
		log=$lane_dir/$name.log
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
		lane_show "$log"
		unstable+=("UNSTABLE $name: failed once, passed alone ($lane_dir/$name.log.first)")
	done
}

# lane_end NAME: the closing line, the result file, the lane's status.
lane_end() {
	local result="$passed passed, $failed failed, $skipped skipped"
	echo "$result" >"$lane_dir.result"
	printf '%s\n' "${unstable[@]}" | sed '/^$/d' | tee "$lane_dir.unstable"
	echo "$result"
	((failed == 0)) || return 1
	[[ ${CI:-} != true || $skipped == 0 ]]
}
