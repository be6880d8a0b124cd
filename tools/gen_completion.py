#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write bash's completion of dxgkhost from its table of options (option_table.py). Usage: gen_completion.py FILE

What an option or an operand takes comes of its name there: `plain|full` are words, FILE, OURS and WINDOWS files, FILE.lua files of that
kind, DRIVER those of drivers, DIR and FOLDER folders, RULE and ID rules, SERIES those of rules; of the others nothing is offered."""
import pathlib
import re
import sys

from option_table import Table

SCRIPT = r"""# bash completion for dxgkhost                           -*- shell-script -*-
# SPDX-License-Identifier: MIT
# Made of src/cli/options.txt by tools/gen_completion.py.

# What each command takes: its options, those of them that want a value, and its operands.
_dxgkhost_command() {
    case $1 in
@COMMANDS@
    *) return 1 ;;
    esac
}

# What the value of an option of a command may be.
_dxgkhost_value() {
    case $1:$2 in
@VALUES@
    esac
}

# _dxgkhost_offer WORD KIND...: "=WORD" is a word, ",WORD" one that follows behind a comma, ".lua" a file of that kind or a folder,
# and the others are files, folders, rules, series.
_dxgkhost_offer() {
    local word=$1 kind found=() begun='' folders=1
    shift
    [[ $word == *,* ]] && begun=${word%,*},
    for kind; do
        case $kind in
        =*) [[ -n $begun ]] || found+=("${kind#=}") ;;
        ,*) [[ -z $begun ]] || found+=("$begun${kind#,}") ;;
        rules | rules=) mapfile -t -O ${#found[@]} found < <("${COMP_WORDS[0]}" rules 2>/dev/null | sed "s/ .*/${kind#rules}/") ;;
        series) mapfile -t -O ${#found[@]} found < <("${COMP_WORDS[0]}" rules 2>/dev/null | sed 's/-.*//' | uniq) ;;
        esac
    done
    mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
    for kind; do
        case $kind in
        .*) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(((folders)) && compgen -d -- "$word"; compgen -f -X "!*$kind" -- "$word"); folders=0 ;;
        files) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
        folders) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$word") ;;
        *) continue ;;
        esac
        compopt -o filenames 2>/dev/null
    done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

_dxgkhost() {
    local word=${COMP_WORDS[COMP_CWORD]} words=() options='' valued='' operands='' option='' value='' kinds=() i count=0
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "@NAMES@ --help --version" -- "$word")
        return
    fi
    _dxgkhost_command "${COMP_WORDS[1]}" || return 0
    for ((i = 2; i <= COMP_CWORD; i++)); do # bash makes three words of --option=value
        if [[ $i -gt 2 && (${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == =) ]]; then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    [[ $word != = ]] || word=''
    for ((i = 0; i < ${#words[@]}; i++)); do
        option='' value=${words[i]}
        if [[ $value == --*=* ]]; then
            option=${value%%=*} value=${value#*=}
        elif [[ $i -gt 0 && " $valued " == *" ${words[i - 1]} "* ]]; then
            option=${words[i - 1]}
        elif [[ $value != -* ]]; then
            ((++count))
        fi
    done
    if [[ $option == --severity && $value == *=* ]]; then
        _dxgkhost_offer "$word" @SEVERITIES@
    elif [[ -n $option ]]; then
        read -r -a kinds <<<"$(_dxgkhost_value "${COMP_WORDS[1]}" "$option")"
        _dxgkhost_offer "$word" "${kinds[@]}"
    elif [[ $value == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$word")
    else
        read -r -a kinds <<<"$operands"
        IFS=/ read -r -a kinds <<<"${kinds[count - 1]-}"
        _dxgkhost_offer "$word" "${kinds[@]}"
    fi
    return 0
}

complete -F _dxgkhost dxgkhost
"""
FILES = {"FILE": ["files"], "OURS": ["files"], "WINDOWS": ["files"], "DIR": ["folders"], "FOLDER": ["folders"], "DRIVER": [".so", ".sys"], "RULE": ["rules"], "ID": ["rules"],
         "SERIES": ["series"]}


def kinds(operand, words=""):
    """Of "cosgpu|FILE.lua": ["=cosgpu", ".lua"]."""
    found = []
    while re.search(r"\[[^\[\]]*\]", operand) and not re.fullmatch(r"\[\w+\]", operand):
        operand = re.sub(r"\[[^\[\]]*\]", "", operand)
    if operand.startswith("RULE="):
        return ["rules="]
    for part in operand.strip("[]").split("|"):
        if part in FILES:
            found += FILES[part]
        elif re.fullmatch(r"[A-Z]+(\.[a-z]+)", part):
            found.append(part[part.index("."):])
        elif re.fullmatch(r"[a-z][a-z0-9-]*", part):
            found.append("=" + part)
    return found + ["," + word for word in words.split()]


def command_case(table, command):
    taken = table.taken(command)
    names = [name for option in taken for name in option.names]
    valued = [name for option in taken if option.operand for name in option.names]
    operands = ["/".join(kinds(part)) for part in command.operand.split()]
    return f'    {command.name}) options="{" ".join(names)}" valued="{" ".join(valued)}" operands="{" ".join(operands)}" ;;'


def value_cases(table):
    for command in table.commands:
        for option in table.taken(command):
            found = kinds(option.operand or "", option.words)
            if found:
                for name in option.names:
                    yield f"    {command.name}:{name}) echo '{' '.join(found)}' ;;"


def main():
    table = Table()
    severities = next(option.operand for option in table.command("run").options if option.name == "--severity").split("=")[1].split("|")
    text = SCRIPT.replace("@COMMANDS@", "\n".join(command_case(table, command) for command in table.commands))
    text = text.replace("@VALUES@", "\n".join(value_cases(table))).replace("@NAMES@", " ".join(command.name for command in table.commands))
    text = text.replace("@SEVERITIES@", " ".join("=" + word for word in severities))
    pathlib.Path(sys.argv[1]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
