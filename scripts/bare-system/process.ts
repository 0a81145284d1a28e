import type { BareSystem } from './bare-system.ts'

/**
 * Enters a system: mounts the file systems that a running system has, in a mount namespace that
 * ends with its last process, so that nothing has to be unmounted.
 */
const enterScript = `
root=$1 id=$2 project=$3
shift 3
mount -t proc proc "$root/proc"
mount --bind /sys "$root/sys" && mount -o remount,bind,ro "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
  : > "$root/dev/$node"
  mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/\${number%%:*}" "$root/dev/\${number##*:}"
done
exec chroot --userspec="$id:$id" --groups= "$root" env --chdir="$project" "$@"
`

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The command line that runs `words` in a system: in its clone of the repository, as its user. */
export function toCommand(
  { folder, user, project, environment }: BareSystem,
  words: readonly string[],
): Command {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const namespace = ['--mount', '--propagation', 'private']
  const script = ['/bin/sh', '-euc', enterScript, 'sh', folder, `${user.id}`, project]
  return {
    program: 'unshare',
    args: [...namespace, ...script, '-i', ...variables, ...words],
    env: { PATH: process.env['PATH'] ?? '' },
  }
}

/** A script that runs a command in a kept system, or a shell if no command is given. */
export function toEnterScript(system: BareSystem): string {
  const { program, args } = toCommand(system, [])
  const words = [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  return `#!/bin/sh\n[ $# -gt 0 ] || set -- bash\nexec ${words.join(' ')} "$@"\n`
}
