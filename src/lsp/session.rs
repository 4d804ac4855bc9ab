//! The protocol: what a client may say when, and who answers it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use lsp_types::{
    CompletionList, CompletionOptions, CompletionParams, CompletionResponse, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams, GotoDefinitionParams,
    Hover, HoverContents, HoverParams, HoverProviderCapability, InitializeParams, InitializeResult, Location,
    LogMessageParams, MarkupContent, MarkupKind, MessageType, OneOf, PositionEncodingKind,
    ServerCapabilities, ServerInfo, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, to_value};

use super::{
    analysis::Analysis,
    complete,
    documents::Lost,
    format, hover,
    links::Links,
    position, publish,
    serve::End,
    symbols::{self, Kind, Symbol},
    uri,
    wire::{self, Incoming, Refusal, code},
    workspace::Workspace,
};
use crate::{escape::shown_lines, lang::source::SourceId, table::SettingSource};

/// What the loop does after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Waits for the next one.
    Nothing,
    /// Makes diagnostics soon.
    Dirty,
    /// Ends.
    Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fresh,
    Running,
    ShutDown,
}

/// One client.
pub struct Session<'a> {
    output: &'a mut dyn Write,
    stage: Stage,
    workspace: Workspace<'a>,
    links: Links,
    /// The files that have findings in the editor.
    shown: BTreeMap<String, Uri>,
}

type Answer = Result<Value, Refusal>;

impl<'a> Session<'a> {
    /// A client that has said nothing yet.
    pub fn new(output: &'a mut dyn Write, settings: &'a dyn SettingSource, cache: &Path) -> Self {
        Self {
            output,
            stage: Stage::Fresh,
            workspace: Workspace::new(settings),
            links: Links::new(cache),
            shown: BTreeMap::new(),
        }
    }

    /// How it ends when it ends now.
    pub fn end(&self) -> End {
        if self.stage == Stage::ShutDown { End::Orderly } else { End::Abrupt }
    }

    /// Writes an answer.
    pub fn answer(&mut self, id: &Value, answer: Answer) -> io::Result<()> {
        wire::answer(self.output, id, answer)
    }

    /// Takes one message.
    pub fn handle(&mut self, message: Incoming) -> io::Result<After> {
        match message {
            Incoming::Request { id, method, params } => {
                let answer = self.request(&method, params);
                self.answer(&id, answer)?;
                Ok(After::Nothing)
            }
            Incoming::Notification { method, .. } if method == "exit" => Ok(After::Exit),
            Incoming::Notification { method, params } if self.stage == Stage::Running => {
                let done = guarded(|| self.notification(&method, params));
                let (after, complaint) = done.unwrap_or((After::Nothing, None));
                if let Some(message) = complaint {
                    let message = shown_lines(&format!("`{method}` was not taken: {message}"));
                    let params = LogMessageParams { typ: MessageType::WARNING, message };
                    wire::notify(self.output, "window/logMessage", &params)?;
                }
                Ok(after)
            }
            Incoming::Notification { .. } | Incoming::Response => Ok(After::Nothing),
            Incoming::Broken(refusal) => {
                self.answer(&Value::Null, Err(refusal))?;
                Ok(After::Nothing)
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Answer {
        match (self.stage, method) {
            (Stage::Fresh, "initialize") => {
                let params: InitializeParams = read(params)?;
                self.workspace.set_folders(folders(&params));
                self.stage = Stage::Running;
                give(capabilities())
            }
            (Stage::Fresh, _) => Err(Refusal::new(code::NOT_INITIALIZED, "`initialize` comes first")),
            (Stage::ShutDown, _) => Err(Refusal::new(code::INVALID_REQUEST, "the server has been shut down")),
            (Stage::Running, "initialize") => {
                Err(Refusal::new(code::INVALID_REQUEST, "`initialize` comes once"))
            }
            (Stage::Running, "shutdown") => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (Stage::Running, _) => guarded(|| self.question(method, params)).unwrap_or_else(|| {
                Err(Refusal::new(code::INTERNAL_ERROR, format!("`{method}` failed: a fault of the server")))
            }),
        }
    }

    fn question(&mut self, method: &str, params: Value) -> Answer {
        match method {
            "textDocument/hover" => {
                let params: HoverParams = read(params)?;
                give(self.hover(&params.text_document_position_params))
            }
            "textDocument/definition" => {
                let params: GotoDefinitionParams = read(params)?;
                give(self.definition(&params.text_document_position_params))
            }
            "textDocument/completion" => {
                let params: CompletionParams = read(params)?;
                give(self.completion(&params.text_document_position))
            }
            "textDocument/formatting" => {
                let params: DocumentFormattingParams = read(params)?;
                let document = self.workspace.documents.named(&params.text_document.uri);
                give(document.and_then(|(_, document)| format::edits(&document.text)))
            }
            _ => Err(Refusal::new(code::METHOD_NOT_FOUND, format!("`{method}` is not known here"))),
        }
    }

    /// What is to be done after a notification, and what was wrong with it.
    fn notification(&mut self, method: &str, params: Value) -> (After, Option<String>) {
        let (touched, complaint) = match method {
            "textDocument/didOpen" => told(read::<DidOpenTextDocumentParams>(params), |opened| {
                let document = opened.text_document;
                let path = self.workspace.documents.open(document.uri, document.version, document.text);
                // What lies on disk around it may be new as well.
                self.workspace.touch_all();
                Some(path)
            }),
            "textDocument/didChange" => self.change(params),
            "textDocument/didClose" => told(read::<DidCloseTextDocumentParams>(params), |closed| {
                self.workspace.documents.close(&closed.text_document.uri)
            }),
            "textDocument/didSave"
            | "workspace/didChangeWatchedFiles"
            | "workspace/didChangeConfiguration" => {
                self.workspace.touch_all();
                return (After::Dirty, None);
            }
            _ => (None, None),
        };
        let after = touched.map_or(After::Nothing, |path| {
            self.workspace.touch(&path);
            After::Dirty
        });
        (after, complaint)
    }

    /// Changes a document; when that cannot be, its text is unknown until the editor sends the whole.
    fn change(&mut self, params: Value) -> Told {
        let uri =
            params.pointer("/textDocument/uri").cloned().and_then(|uri| serde_json::from_value(uri).ok());
        let documents = &mut self.workspace.documents;
        let (lost, why) = match read::<DidChangeTextDocumentParams>(params) {
            Ok(changed) => {
                let document = changed.text_document;
                match documents.change(&document.uri, document.version, changed.content_changes) {
                    Ok(path) => return (path, None),
                    Err(Lost(path)) => (Some(path), "a range lies outside of the text".to_owned()),
                }
            }
            Err(refusal) => (uri.map(|uri| documents.lose(&uri).0), refusal.message),
        };
        (lost, Some(format!("{why}; the document is unknown until its whole text comes")))
    }

    /// Sends the findings of all open documents' rule sets, and takes back those that are no more.
    pub fn publish(&mut self) -> io::Result<()> {
        let found = guarded(|| {
            let sets = self.workspace.open_sets();
            let mut found = BTreeMap::new();
            for set in sets {
                found.extend(publish::findings(&set, &self.workspace.documents, &self.links));
            }
            found
        });
        let Some(found) = found else { return Ok(()) };
        let gone = self.shown.keys().filter(|uri| !found.contains_key(*uri)).cloned().collect::<Vec<_>>();
        for uri in gone.iter().filter_map(|uri| self.shown.remove(uri)).collect::<Vec<_>>() {
            wire::notify(self.output, "textDocument/publishDiagnostics", &publish::nothing(uri))?;
        }
        for (key, params) in found {
            // A file that nobody has open and that is fine needs no word, unless it was not fine before.
            let open = params.version.is_some();
            let before = self.shown.contains_key(&key);
            if open || before || !params.diagnostics.is_empty() {
                wire::notify(self.output, "textDocument/publishDiagnostics", &params)?;
            }
            if open || !params.diagnostics.is_empty() {
                self.shown.insert(key, params.uri);
            } else {
                self.shown.remove(&key);
            }
        }
        Ok(())
    }

    fn hover(&mut self, at: &TextDocumentPositionParams) -> Option<Hover> {
        let spot = self.spot(at)?;
        let value = hover::hover(&spot.analysis, spot.source, &spot.symbol)?;
        let text = &spot.analysis.sources.get(spot.source)?.text;
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
            range: Some(position::range(text, spot.symbol.range)),
        })
    }

    fn definition(&mut self, at: &TextDocumentPositionParams) -> Option<Vec<Location>> {
        let Spot { analysis, source, symbol } = self.spot(at)?;
        let (links, documents) = (&self.links, &self.workspace.documents);
        if matches!(symbol.kind, Kind::Set | Kind::File) {
            let used = analysis.used(source, &symbol)?;
            return Some(vec![links.location(&analysis, documents, used, 0..0)?]);
        }
        let declared = analysis.declarations(symbol.kind, &symbol.name);
        let places = declared
            .iter()
            .filter_map(|(source, found)| links.location(&analysis, documents, *source, found.range.clone()));
        Some(places.collect())
    }

    fn completion(&mut self, at: &TextDocumentPositionParams) -> Option<CompletionResponse> {
        let (path, document) = self.workspace.documents.named(&at.text_document.uri)?;
        let text = document.text.clone();
        // While somebody types, words at once are worth more than the very latest names.
        let analysis = self.workspace.last_set_of(&path);
        let (items, whole) = complete::complete(&analysis, &text, position::offset(&text, at.position));
        Some(CompletionResponse::List(CompletionList { is_incomplete: !whole, items }))
    }

    /// The name at a place of an open document.
    fn spot(&mut self, at: &TextDocumentPositionParams) -> Option<Spot> {
        let (path, _) = self.workspace.documents.named(&at.text_document.uri)?;
        let analysis = self.workspace.set_of(&path);
        let source = analysis.source_at(&path)?;
        let text = analysis.sources.get(source)?.text.clone();
        let offset = position::offset(&text, at.position);
        let names = analysis.symbols.get(source.0 as usize)?;
        let symbol = symbols::at(names, offset).cloned().or_else(|| analysis.any_named(&text, offset))?;
        Some(Spot { analysis, source, symbol })
    }
}

/// A name at a place.
struct Spot {
    analysis: std::sync::Arc<Analysis>,
    source: SourceId,
    symbol: Symbol,
}

/// Runs `work`; a panic in it, which would be a fault of the server, costs only this one answer.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| Refusal::new(code::INVALID_PARAMS, format!("the parameters do not fit: {error}")))
}

/// A document that is another one now, and what was wrong.
type Told = (Option<std::path::PathBuf>, Option<String>);

/// Takes parameters, if they could be read.
fn told<T>(params: Result<T, Refusal>, take: impl FnOnce(T) -> Option<std::path::PathBuf>) -> Told {
    match params {
        Ok(params) => (take(params), None),
        Err(refusal) => (None, Some(refusal.message)),
    }
}

fn give(result: impl serde::Serialize) -> Answer {
    to_value(result).map_err(|error| Refusal::new(code::INTERNAL_ERROR, error.to_string()))
}

fn folders(params: &InitializeParams) -> Vec<std::path::PathBuf> {
    let folders = params.workspace_folders.iter().flatten().filter_map(|folder| uri::path(&folder.uri));
    folders.map(|path| super::documents::real(&path)).collect()
}

fn capabilities() -> InitializeResult {
    InitializeResult {
        capabilities: ServerCapabilities {
            position_encoding: Some(PositionEncodingKind::UTF16),
            text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            completion_provider: Some(CompletionOptions {
                trigger_characters: Some([" ", ".", "\"", "[", "("].map(str::to_owned).to_vec()),
                ..CompletionOptions::default()
            }),
            document_formatting_provider: Some(OneOf::Left(true)),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "pointsman".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}
