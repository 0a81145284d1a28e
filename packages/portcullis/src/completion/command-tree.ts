import type { Command } from '@portcullis/service-kit/command'

/** A command as a shell has to know it: its own options, and what may follow it. */
export interface CommandNode {
  readonly summary: string
  readonly options?: readonly CommandOption[]
  /** What its other arguments are, where it takes any. */
  readonly operands?: ValueKind
  readonly commands?: Readonly<Record<string, CommandNode>>
}

export interface CommandOption {
  /** All spellings, the usual one last. */
  readonly flags: readonly [string, ...string[]]
  readonly summary: string
  /** Missing where the option stands alone. */
  readonly value?: ValueKind
}

/** `any`: nothing that a shell could guess. A list is one word, with commas in it. */
export type ValueKind =
  | 'file'
  | 'directory'
  | 'any'
  | { readonly choices: readonly string[] }
  | { readonly list: readonly string[] }

/** A command that can be run, with what a shell has to know besides its summary. */
export interface CompletableCommand extends Command {
  readonly completion: Omit<CommandNode, 'summary'>
}

export type LoadCommands = Readonly<Record<string, () => Promise<CompletableCommand>>>

/** The tree of a program, from the table of its commands. */
export async function loadTree(summary: string, commands: LoadCommands): Promise<CommandNode> {
  const nodes = Object.entries(commands).map(async ([name, load]) => {
    const command = await load()
    return [name, { ...command.completion, summary: command.summary }] as const
  })
  return { summary, commands: Object.fromEntries(await Promise.all(nodes)) }
}

const help: CommandOption = { flags: ['-h', '--help'], summary: 'show help' }
const version: CommandOption = { flags: ['-v', '--version'], summary: 'show the version' }

/** A command with its place: the words that lead to it, none for the program itself. */
export interface PlacedCommand {
  readonly words: readonly string[]
  readonly node: CommandNode
  /** Its own, and those that every command has. */
  readonly options: readonly CommandOption[]
}

/** The whole tree as a list, parents before their children. */
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

/** Writes the completion of a program for one shell. */
export type ToScript = (program: string, tree: CommandNode) => string
