//! Writes chosen lines of a page as Markdown.

use crate::html::lines::{Line, Lines};
use crate::html::markdown::inline::{self, Span};
use crate::html::markdown::structure::{Event, Form, Inline, Structure};

/// Maximum nesting of quotes and list items; deeper ones are written without marks.
const DEEPEST: usize = 8;

/// Maximum size of the output, as a multiple of the text limit.
const MAX_TIMES: usize = 4;

/// Returns the chosen lines as Markdown. `resolve` returns the URL of a link's target; for `None`,
/// only the text of the link is written. `max_text` is the maximum length of a page's text in
/// bytes.
pub(crate) fn write(
    structure: &Structure<'_>,
    all: &Lines,
    chosen: impl Fn(usize) -> bool,
    resolve: impl Fn(&str) -> Option<String>,
    max_text: usize,
) -> String {
    let mut writer = Writer {
        structure,
        resolve: &resolve,
        out: String::with_capacity(all.text.len() + all.text.len() / 8),
        most: max_text.saturating_mul(MAX_TIMES),
        left_for_targets: max_text,
        containers: Vec::new(),
        too_deep: 0,
        lists: Vec::new(),
        containers_made: 0,
        last: None,
        continues: false,
        after_break: false,
        heading: None,
        preformatted: None,
        rows: Vec::new(),
        row: None,
        open: Vec::new(),
    };
    let mut events = structure.events().iter().peekable();
    for (number, line) in all.lines.iter().enumerate() {
        let (start, end) = (line.start as usize, line.end as usize);
        while let Some(event) = events.next_if(|event| event.at <= start) {
            writer.apply(event);
        }
        let mut spans = Vec::new();
        writer.carry_over(start);
        while let Some(event) = events.next_if(|event| event.at <= end) {
            writer.apply_inside(event, &mut spans);
        }
        writer.cut_at(end, &mut spans);
        // If the row consists of this line only, its end follows directly.
        let is_whole_row = events
            .peek()
            .is_some_and(|event| event.at == end + 1 && event.form == Form::Row && !event.begins);
        match chosen(number) {
            true => writer.line(all, line, &spans, is_whole_row),
            false => writer.skip(),
        }
        if writer.is_full() {
            break;
        }
    }
    writer.end_table();
    writer.out
}

/// A quote or a list item around the text.
#[derive(Clone, Debug)]
struct Container {
    /// Identifies a container that two blocks share.
    number: usize,
    form: ContainerForm,
}

#[derive(Clone, Debug)]
enum ContainerForm {
    Quote,
    Item {
        /// Number of its list.
        list: usize,
        /// Bullet or number, followed by a space.
        mark: String,
        is_marked: bool,
    },
}

/// An open list.
struct List {
    number: usize,
    /// Next number; `None` for bullets.
    next: Option<u32>,
}

/// A row of a table being read.
struct Row {
    start: usize,
    cells: Vec<usize>,
}

/// An open part of a line, and its start.
struct OpenSpan {
    start: usize,
    form: Inline,
    /// Number of open parts of the same form, including this one.
    depth: usize,
}

/// Returns the URL of a link's target; `None` if it has no usable target.
type Resolve<'a> = dyn Fn(&str) -> Option<String> + 'a;

struct Writer<'a, 'p> {
    structure: &'a Structure<'p>,
    resolve: &'a Resolve<'a>,
    out: String,
    /// Maximum bytes of output; nothing is added beyond them.
    most: usize,
    /// Remaining bytes for targets.
    left_for_targets: usize,
    containers: Vec<Container>,
    /// Number of open containers that are too deep for `containers`.
    too_deep: usize,
    lists: Vec<List>,
    containers_made: usize,
    /// Containers of the last written block.
    last: Option<Vec<Container>>,
    /// True if the last line was written, and no block has begun or ended since.
    continues: bool,
    after_break: bool,
    heading: Option<u8>,
    /// The open preformatted block, and true once it is written.
    preformatted: Option<(usize, bool)>,
    /// Rows of the table to write next.
    rows: Vec<Vec<String>>,
    row: Option<Row>,
    open: Vec<OpenSpan>,
}

impl Writer<'_, '_> {
    fn is_full(&self) -> bool {
        self.out.len() >= self.most
    }

    /// Applies an event between two lines, or at the start of a line.
    fn apply(&mut self, event: &Event) {
        match (event.form, event.begins) {
            (Form::Inline(form), true) => self.begin_span(form, event.at),
            (Form::Inline(form), false) => drop(self.end_span(form)),
            (Form::Break, _) => self.after_break = true,
            (Form::Cell, true) => {
                if let Some(row) = &mut self.row {
                    row.cells.push(event.at);
                }
            }
            (Form::Cell, false) => {}
            (Form::Row, true) => {
                self.row = Some(Row {
                    start: event.at,
                    cells: Vec::new(),
                });
            }
            (Form::Row, false) => self.row = None,
            (Form::Block, _) => self.continues = false,
            (form, begins) => {
                self.continues = false;
                self.end_table();
                self.block(form, begins);
            }
        }
    }

    /// Applies the start or the end of a block with a form.
    fn block(&mut self, form: Form, begins: bool) {
        match (form, begins) {
            (Form::Heading(level), true) => self.heading = Some(level),
            (Form::Heading(_), false) => self.heading = None,
            (Form::Preformatted(number), true) => self.preformatted = Some((number, false)),
            (Form::Preformatted(_), false) => self.preformatted = None,
            (Form::Bullets | Form::Numbers(_), true) => {
                let next = match form {
                    Form::Numbers(first) => Some(first),
                    _ => None,
                };
                self.containers_made += 1;
                self.lists.push(List {
                    number: self.containers_made,
                    next,
                });
            }
            (Form::Bullets | Form::Numbers(_), false) => drop(self.lists.pop()),
            (Form::Quote, true) => self.begin_container(ContainerForm::Quote),
            (Form::Item, true) => {
                let item = self.next_item();
                self.begin_container(item);
            }
            (Form::Quote | Form::Item, false) => match self.too_deep {
                0 => drop(self.containers.pop()),
                _ => self.too_deep -= 1,
            },
            _ => {}
        }
    }

    fn next_item(&mut self) -> ContainerForm {
        let (list, mark) = match self.lists.last_mut() {
            Some(List {
                number,
                next: Some(next),
            }) => {
                // A mark has at most nine digits.
                let mark = format!("{}. ", (*next).min(999_999_999));
                *next = next.saturating_add(1);
                (*number, mark)
            }
            Some(list) => (list.number, "- ".to_owned()),
            None => (0, "- ".to_owned()),
        };
        ContainerForm::Item {
            list,
            mark,
            is_marked: false,
        }
    }

    fn begin_container(&mut self, form: ContainerForm) {
        if self.containers.len() == DEEPEST {
            self.too_deep += 1;
            return;
        }
        self.containers_made += 1;
        self.containers.push(Container {
            number: self.containers_made,
            form,
        });
    }

    /// Applies an event within a line.
    fn apply_inside(&mut self, event: &Event, spans: &mut Vec<Span>) {
        match (event.form, event.begins) {
            (Form::Inline(form), false) => {
                if let Some(OpenSpan { start, form, .. }) = self.end_span(form) {
                    let end = event.at;
                    spans.push(Span { start, end, form });
                }
            }
            _ => self.apply(event),
        }
    }

    fn begin_span(&mut self, form: Inline, start: usize) {
        // The outermost of nested equal forms counts.
        match self.open.iter_mut().find(|open| open.form.is_like(form)) {
            Some(open) => open.depth += 1,
            None => self.open.push(OpenSpan {
                start,
                form,
                depth: 1,
            }),
        }
    }

    /// Ends a span and returns it, unless it is inside another span of the same form. The end event
    /// of a link does not carry its number.
    fn end_span(&mut self, form: Inline) -> Option<OpenSpan> {
        let place = self.open.iter().position(|open| open.form.is_like(form))?;
        self.open[place].depth -= 1;
        (self.open[place].depth == 0).then(|| self.open.remove(place))
    }

    /// Continues the open spans at the start of a line.
    fn carry_over(&mut self, start: usize) {
        for open in &mut self.open {
            open.start = open.start.max(start);
        }
    }

    /// Adds the open spans up to the end of this line.
    fn cut_at(&self, end: usize, spans: &mut Vec<Span>) {
        spans.extend(self.open.iter().map(|open| Span {
            start: open.start,
            end,
            form: open.form,
        }));
    }

    /// Skips a line that is not written.
    fn skip(&mut self) {
        self.continues = false;
        self.after_break = false;
    }

    fn line(&mut self, all: &Lines, line: &Line, spans: &[Span], is_whole_row: bool) {
        let start = line.start as usize;
        let end = self.before_permalink(&all.text, line, spans);
        let continues = self.continues && self.after_break;
        self.skip();
        if let Some((number, is_written)) = self.preformatted {
            if !is_written {
                self.preformatted = Some((number, true));
                self.fence(number);
            }
            return;
        }
        // A single cell does not begin a table: it is a title, or layout.
        let least = if self.rows.is_empty() { 2 } else { 1 };
        let is_row = |row: &mut Row| row.start == start && row.cells.len() >= least;
        if let Some(row) = self.row.take_if(|row| is_whole_row && is_row(row)) {
            let cells = self.cells(all, &row.cells, end, spans);
            self.rows.push(cells);
            return;
        }
        self.end_table();
        let text = self.part(all, start, end, spans, false);
        match self.heading {
            Some(level) => {
                let mark = "#".repeat(level.into());
                // A run of `#` at the end would be removed as a closing sequence.
                let escape = if text.ends_with('#') { " #" } else { "" };
                self.paragraph(&format!("{mark} {text}{escape}"));
            }
            None if continues => {
                // A delimiter before the break must not precede its backslash.
                let space = if self.out.ends_with('*') { " " } else { "" };
                self.out.push_str(space);
                self.out.push_str("\\\n");
                let prefix = self.prefix();
                self.out.push_str(&prefix);
                self.out.push_str(&text);
                self.continues = true;
            }
            None => {
                self.paragraph(&text);
                self.continues = true;
            }
        }
    }

    /// Returns the end of a line without the sign that links a heading to itself.
    fn before_permalink(&self, text: &str, line: &Line, spans: &[Span]) -> usize {
        const SIGNS: &[&str] = &["¶", "#", "§", "🔗"];
        let (start, end) = (line.start as usize, line.end as usize);
        let is_permalink = |span: &&Span| match span.form {
            Inline::Link(number) => {
                let sign = text.get(span.start..end).unwrap_or_default().trim();
                SIGNS.contains(&sign) && self.structure.target(number).starts_with('#')
            }
            _ => false,
        };
        let permalink = spans.iter().find(is_permalink);
        // A line of nothing else is text.
        let before = permalink.and_then(|link| text.get(start..link.start));
        match before.map(str::trim_end) {
            Some(before) if !before.is_empty() => start + before.len(),
            _ => end,
        }
    }

    /// Returns the cells of a row that begin at these positions.
    fn cells(&mut self, all: &Lines, starts: &[usize], end: usize, spans: &[Span]) -> Vec<String> {
        let ends = starts.iter().skip(1).copied().chain([end]);
        let cells: Vec<_> = starts.iter().copied().zip(ends).collect();
        let part = |(start, end)| self.part(all, start, end, spans, true);
        cells.into_iter().map(part).collect()
    }

    /// Returns a part of a line as Markdown.
    fn part(
        &mut self,
        all: &Lines,
        start: usize,
        end: usize,
        spans: &[Span],
        in_table: bool,
    ) -> String {
        let text = all.text.get(start..end.max(start)).unwrap_or_default();
        let from = end - text.trim_start().len();
        let text = text.trim();
        let spans: Vec<Span> = spans
            .iter()
            .filter(|span| span.end > from && span.start < from + text.len())
            .map(|span| Span {
                start: span.start.saturating_sub(from),
                end: span.end - from,
                ..*span
            })
            .collect();
        let mut part = String::with_capacity(text.len() + 16);
        let (structure, resolve) = (self.structure, self.resolve);
        let left = &mut self.left_for_targets;
        inline::push(&mut part, text, &spans, in_table, |number| {
            let target = structure.target(number);
            *left = left.checked_sub(target.len())?;
            let target = resolve(target)?;
            *left = left.checked_sub(target.len())?;
            Some(in_parentheses(target))
        });
        part
    }

    /// Writes the pending rows as a table. The first row is its head.
    fn end_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for (number, mut row) in rows.into_iter().enumerate() {
            if number == 0 {
                row.resize(columns, String::new());
            }
            lines.push(format!("| {} |", row.join(" | ")));
            if number == 0 {
                lines.push(format!("|{}", " --- |".repeat(columns)));
            }
        }
        self.lines(lines.iter().map(String::as_str));
    }

    /// Writes a preformatted block.
    fn fence(&mut self, number: usize) {
        let raw = self.structure.raw(number);
        let raw = raw.trim_end();
        // Omits blank lines at the start, but keeps the indent of the first other line.
        let indented = raw.len() - raw.trim_start().len();
        let first = raw[..indented].rfind('\n').map_or(0, |end| end + 1);
        let raw = &raw[first..];
        let mut longest = 2;
        for line in raw.lines() {
            let line = line.trim_start();
            longest = longest.max(line.len() - line.trim_start_matches('`').len());
        }
        let fence = "`".repeat(longest + 1);
        let begin = fence.clone() + self.structure.language(number).unwrap_or_default();
        let lines = [&*begin].into_iter().chain(raw.lines()).chain([&*fence]);
        self.lines(lines);
    }

    fn paragraph(&mut self, text: &str) {
        self.lines([text].into_iter());
    }

    /// Writes a block of these lines.
    fn lines<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        self.separate();
        for (number, line) in lines.enumerate() {
            if self.is_full() {
                break;
            }
            if number > 0 {
                self.out.push('\n');
            }
            let prefix = self.prefix();
            match line.is_empty() {
                true => self.out.push_str(prefix.trim_end()),
                false => self.out.push_str(&prefix),
            }
            self.out.push_str(line);
        }
        self.last = Some(self.containers.clone());
    }

    /// Separates the next block from the last one: by an empty line, except for the items of a
    /// list.
    fn separate(&mut self) {
        let Some(last) = &self.last else {
            return;
        };
        let pairs = last.iter().zip(&self.containers);
        let shared = pairs
            .take_while(|(one, other)| one.number == other.number)
            .count();
        let list_of = |containers: &[Container], place: usize| match containers.get(place)?.form {
            ContainerForm::Item { list, .. } => Some(list),
            ContainerForm::Quote => None,
        };
        let next = list_of(&self.containers, shared);
        let is_next_item = next.is_some() && next == list_of(last, shared);
        let is_first_below = next.is_some()
            && last.len() == shared
            && shared
                .checked_sub(1)
                .is_some_and(|place| list_of(last, place).is_some());
        self.out.push('\n');
        if !is_next_item && !is_first_below {
            let mut prefix = String::new();
            for container in &self.containers[..shared] {
                push_mark(&mut prefix, container);
            }
            self.out.push_str(prefix.trim_end());
            self.out.push('\n');
        }
    }

    /// Returns the marks of the containers before a line, and uses up the marks of new items.
    fn prefix(&mut self) -> String {
        let mut prefix = String::new();
        for container in &mut self.containers {
            match &mut container.form {
                ContainerForm::Item {
                    mark, is_marked, ..
                } if !*is_marked => {
                    prefix.push_str(mark);
                    *is_marked = true;
                }
                _ => push_mark(&mut prefix, container),
            }
        }
        prefix
    }
}

/// Appends the continuation mark of a container after its first line.
fn push_mark(prefix: &mut String, container: &Container) {
    match &container.form {
        ContainerForm::Quote => prefix.push_str("> "),
        ContainerForm::Item { mark, .. } => {
            for _ in 0..mark.len() {
                prefix.push(' ');
            }
        }
    }
}

/// Returns a target as written in the parentheses of a link (section 6.3).
fn in_parentheses(target: String) -> String {
    match target.contains(['(', ')', ' ', '\\']) {
        true => format!("<{}>", target.replace(['<', '>'], "")),
        false => target,
    }
}
