import type { CommandNode } from '../command-tree.ts'

/** Writes the completion of a program for one shell. */
export type ToScript = (program: string, tree: CommandNode) => string
