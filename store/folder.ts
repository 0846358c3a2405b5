/**
 * Folders and trees: what is in a folder as blocks, and blocks as a folder again.
 * Promises and limits: store/folder/read.ts, store/folder/write.ts.
 */
export { type FolderTree, folderToTree } from './folder/read.ts';
export { type FolderOptions, type Materialised, treeToFolder } from './folder/write.ts';
