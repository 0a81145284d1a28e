import type { Command } from '@portcullis/service-kit/cli/command'

/** A command as shell completion sees it: its options and what may follow it. */
export interface CommandNode {
  readonly summary: string
  readonly options?: readonly CommandOption[]
  /** The kind of its positional arguments; missing if it takes none. */
  readonly operands?: ValueKind
  readonly commands?: Readonly<Record<string, CommandNode>>
}

export interface CommandOption {
  /** All spellings, the preferred one last. */
  readonly flags: readonly [string, ...string[]]
  readonly summary: string
  /** Missing if the option takes no value. */
  readonly value?: ValueKind
}

/** `any`: a value that a shell cannot complete. `list`: one word of comma-separated values. */
export type ValueKind =
  | 'file'
  | 'directory'
  | 'any'
  | { readonly choices: readonly string[] }
  | { readonly list: readonly string[] }

/** A runnable command with the data for its completion. */
export interface CompletableCommand extends Command {
  readonly completion: Omit<CommandNode, 'summary'>
}

export type LoadCommands = Readonly<Record<string, () => Promise<CompletableCommand>>>

/** Builds the tree of a program from the table of its commands. */
export async function loadTree(summary: string, commands: LoadCommands): Promise<CommandNode> {
  const nodes = Object.entries(commands).map(async ([name, load]) => {
    const command = await load()
    return [name, { ...command.completion, summary: command.summary }] as const
  })
  return { summary, commands: Object.fromEntries(await Promise.all(nodes)) }
}

const help: CommandOption = { flags: ['-h', '--help'], summary: 'show help' }
const version: CommandOption = { flags: ['-v', '--version'], summary: 'show the version' }

/** A command with its path: the words that lead to it; empty for the program itself. */
export interface PlacedCommand {
  readonly words: readonly string[]
  readonly node: CommandNode
  /** Its own options and the common ones. */
  readonly options: readonly CommandOption[]
}

/** Flattens the tree into a list, parents before their children. */
export function toPlacedCommands(
  node: CommandNode,
  words: readonly string[] = [],
): PlacedCommand[] {
  const common = words.length === 0 ? [help, version] : [help]
  const placed = { words, node, options: [...(node.options ?? []), ...common] }
  const below = Object.entries(node.commands ?? {}).flatMap(([name, child]) =>
    toPlacedCommands(child, [...words, name]),
  )
  return [placed, ...below]
}

/** Generates the completion script of a program for one shell. */
export type ToScript = (program: string, tree: CommandNode) => string
