# Types lines into a real zsh and writes what it would offer: probe.zsh SCRIPT FOLDER LINE...
# Each answer is a file named after the line's number.
zmodload zsh/zpty
script=$1 folder=$2
shift 2
zpty -b shell zsh -f
zpty -w shell "cd ${(q)folder}; autoload -Uz compinit && compinit -u -D; source ${(q)script}"
zpty -w shell 'found=() number=0
compadd() { local -a hits; builtin compadd -O hits "$@"; found+=($hits); builtin compadd "$@" }
offer() { found=(); _main_complete; (( ++number )); print -rl -- ${(u)found} > .$number && mv .$number $number; compstate[insert]="" }
zle -C offer complete-word offer; bindkey "^Xo" offer'
number=0
for line; do
  zpty -n -w shell $'\x15'"$line"$'\x18o'
  (( ++number ))
  for (( tries = 0; tries < 2400; ++tries )); do
    [[ -e $folder/$number ]] && break
    zpty -r -t shell ignored
    zselect -t 5 2>/dev/null || sleep 0.05
  done
done
zpty -d shell
