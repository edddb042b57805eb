#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the completions of bash, zsh and fish from the command's own description of its options.

    scripts/gen_completions.py COMMAND OUT

COMMAND is the built passtally; OUT gets `passtally` (bash), `_passtally` (zsh) and `passtally.fish`.
Same input, same bytes.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
import help_text  # noqa: E402

HEAD = "# Written by scripts/gen_completions.py from `passtally --help`."


def short(text):
    """The first sentence, without characters that a shell could interpret."""
    text = re.split(r"(?<=[a-z)])[.;:](?: |$)", text, maxsplit=1)[0]
    text = re.sub(r"[`'\"\\$\[\]]", "", text)
    return text if len(text) <= 72 else text[:69].rsplit(" ", 1)[0] + " ..."


def operand_words(help_):
    return sorted(help_.operands() - {"files", "program", "program-name"})


# ---- bash ----

def bash(commands):
    names = " ".join(c.name for c in commands)
    out = [HEAD, """
_passtally()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev= command=${COMP_WORDS[1]-} i
	local options= valued= words= files= program=
	COMPREPLY=()
	((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
	# Bash parts words at "=" and ":".
	if [[ $cur == "=" ]]; then
		cur=
	elif [[ $prev == "=" ]] && ((COMP_CWORD > 1)); then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)); then""",
           f'\t\tCOMPREPLY=($(compgen -W "{names} help --help --version" -- "$cur"))',
           "\t\treturn", "\tfi", "\tcase $command in",
           f'\thelp)\n\t\tCOMPREPLY=($(compgen -W "{names}" -- "$cur"))\n\t\treturn\n\t\t;;']
    for help_ in commands:
        options = " ".join(f"--{o.name}" for o in help_.options)
        valued = " ".join(f"--{o.name}" + (f" -{o.letter}" if o.letter else "") for o in help_.options if o.values)
        out += [f"\t{help_.name})", f'\t\toptions="{options}"', f'\t\tvalued=" {valued} "']
        operands = help_.operands()
        if operand_words(help_):
            out.append(f'\t\twords="{" ".join(operand_words(help_))}"')
        if "files" in operands:
            out.append("\t\tfiles=1")
        if "program-name" in operands:
            out.append('\t\twords=$(compgen -c -- "$cur")')
        if "program" in operands:
            out.append("\t\tprogram=1")
        out.append("\t\tcase $prev in")
        for option in help_.options:
            letter = f"|-{option.letter}" if option.letter else ""
            words, path = option.words()
            body = []
            if words:
                body.append(f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))')
                if any(w.endswith(":") for w in words):
                    body.append('[[ ${COMPREPLY[*]} == *: ]] && compopt -o nospace 2>/dev/null')
            if path:
                body.append('compopt -o filenames 2>/dev/null')
                body.append('COMPREPLY+=($(compgen -f -- "$cur"))')
            if option.values and not option.values.startswith("["):
                out += [f"\t\t--{option.name}{letter})", *(f"\t\t\t{b}" for b in body), "\t\t\treturn", "\t\t\t;;"]
        out += ["\t\tesac", "\t\t;;"]
    out += ["""	*)
		return
		;;
	esac
	# The program behind `run` has completions of its own.
	if [[ $program ]]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--)
				((i++))
				break
				;;
			-*) [[ $valued == *" ${COMP_WORDS[i]} "* && ${COMP_WORDS[i + 1]-} != "=" ]] && ((i++)) ;;
			=) ((i++)) ;;
			*) break ;;
			esac
		done
		if ((i < COMP_CWORD)); then
			declare -F _command_offset >/dev/null && _command_offset "$i" && return
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -f -- "$cur"))
			return
		elif ((i == COMP_CWORD)) && [[ $cur != -* ]]; then
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -c -- "$cur") $(compgen -d -- "$cur"))
			return
		fi
	fi
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi
	[[ $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
	if [[ $files ]]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
}
complete -F _passtally passtally"""]
    return "\n".join(out) + "\n"


# ---- zsh ----

def zsh_option(option):
    text = short(option.help).replace(":", "\\:")
    words, path = option.words()
    action = ""
    if option.values:
        action = "_files" if path else f"({' '.join(w.replace(':', chr(92) + ':') for w in words)})" if words else ""
        # A message alone: nothing to offer, and no files either.
        message = re.sub(r"[^A-Z]", "", option.values.split("|")[0]).lower() or option.name
        action = f"{':' if not option.values.startswith('[') else '::'}{message}:{action or ' '}"
    equals = "=" if option.values else ""
    if option.letter:
        plus = "+" if option.values else ""
        return f"'(-{option.letter} --{option.name})'{{-{option.letter}{plus},--{option.name}{equals}}}'[{text}]{action}'"
    return f"'--{option.name}{equals}[{text}]{action}'"


def zsh(commands):
    out = ["#compdef passtally", HEAD, """
local curcontext="$curcontext" state line
_arguments -C \\
	'(- *)'{-h,--help}'[Show the commands]' \\
	'(- *)'{-V,--version}'[Print the version]' \\
	'1:command:->command' \\
	'*::argument:->argument' && return 0
case $state in
command)
	local -a commands
	commands=("""]
    out += [f"\t\t'{c.name}:{short(c.summary)}'" for c in commands]
    out += ["""		'help:Show the options of a command'
	)
	_describe -t commands command commands
	;;
argument)
	curcontext="${curcontext%:*:*}:passtally-$words[1]:"
	case $words[1] in"""]
    for help_ in commands:
        lines = [zsh_option(o) for o in help_.options]
        operands, words = help_.operands(), operand_words(help_)
        if "program" in operands:
            lines += ["'(-):program: _command_names -e'", "'*::arguments:{ _normal }'"]
        elif "program-name" in operands:
            lines.append("'1:program: _command_names -e'")
        elif words:
            lines.append(f"'1:word:({' '.join(words)})'")
        elif "files" in operands:
            lines.append("'*:log:_files'")
        out += [f"\t{help_.name})", "\t\t_arguments -s -S \\", *(f"\t\t\t{item} \\" for item in lines[:-1]), f"\t\t\t{lines[-1]}",
                "\t\t;;"]
    out += [f"\thelp)\n\t\t_arguments '1:command:({' '.join(c.name for c in commands)})'\n\t\t;;", "\tesac", "\t;;", "esac"]
    return "\n".join(out) + "\n"


# ---- fish ----

# What follows the command's own options is a separate command line.
FISH_PROGRAM = """function __passtally_program
	set -l words (commandline -opc)
	set -l valued VALUED
	set -l i 3
	while test $i -le (count $words)
		switch $words[$i]
			case --
				set i (math $i + 1)
				break
			case '-*'
				contains -- $words[$i] $valued; and set i (math $i + 1)
			case '*'
				break
		end
		set i (math $i + 1)
	end
	set -l own
	test $i -le (count $words); and set own (string escape -- $words[$i..-1])
	set -l line (string join ' ' -- $own (commandline -ct))
	string match -q -- '-*' "$line"; or complete "--do-complete=$line"
end"""

def fish(commands):
    out = [HEAD, """
function __passtally_command
	set -l words (commandline -opc)
	test (count $words) -gt 1; and test "$words[2]" = "$argv[1]"
end
function __passtally_first
	test (count (commandline -opc)) -eq 1
end
complete -c passtally -f
complete -c passtally -n __passtally_first -s h -l help -d 'Show the commands'
complete -c passtally -n __passtally_first -s V -l version -d 'Print the version'
complete -c passtally -n __passtally_first -a help -d 'Show the options of a command'"""]
    for help_ in commands:
        out.append(f"complete -c passtally -n __passtally_first -a {help_.name} -d '{short(help_.summary)}'")
    out.append(f"complete -c passtally -n '__passtally_command help' -a '{' '.join(c.name for c in commands)}'")
    for help_ in commands:
        on = f"complete -c passtally -n '__passtally_command {help_.name}'"
        for option in help_.options:
            words, path = option.words()
            line = f"{on} -l {option.name}" + (f" -s {option.letter}" if option.letter else "")
            if option.values and not option.values.startswith("["):
                line += " -r" if path else " -x"
                line += " -F" if path else ""
                line += f" -a '{' '.join(words)}'" if words else ""
            out.append(f"{line} -d '{short(option.help)}'")
        operands = help_.operands()
        if operand_words(help_):
            out.append(f"{on} -a '{' '.join(operand_words(help_))}'")
        if "files" in operands:
            out.append(f"{on} -F")
        if "program-name" in operands:
            out.append(f"{on} -a '(__fish_complete_command)'")
        if "program" in operands:
            valued = " ".join(f"--{o.name}" + (f" -{o.letter}" if o.letter else "") for o in help_.options if o.values)
            out += [FISH_PROGRAM.replace("VALUED", valued), f"{on} -a '(__passtally_program)'"]
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        _, commands = help_text.all_of(sys.argv[1])
    except ValueError as error:
        sys.exit(f"gen_completions: {error}")
    target = pathlib.Path(sys.argv[2])
    for name, text in (("passtally", bash(commands)), ("_passtally", zsh(commands)), ("passtally.fish", fish(commands))):
        (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
