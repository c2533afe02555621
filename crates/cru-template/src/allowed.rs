//! What a template may hold: looked for in what the engine itself has read, and a list of what is allowed.

use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{Token, parse, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::filters::{FILTERS, TESTS};

/// `elif`s of a template: the engine goes one step deeper with each.
const MOST_ELIFS: usize = 64;

/// What is wrong with a template.
pub(crate) enum Fault {
    /// It is no template.
    Read(Box<minijinja::Error>),
    /// In which line it does what it may not do.
    Does(u32, &'static str),
}

impl Fault {
    /// The line, and what is wrong there.
    pub(crate) fn at_line(self) -> (Option<usize>, String) {
        match self {
            Self::Read(error) => {
                let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
                (error.line(), format!("{}{detail}", error.kind()))
            }
            Self::Does(line, what) => (Some(line as usize), format!("a template of a vault may not {what}")),
        }
    }
}

impl From<minijinja::Error> for Fault {
    fn from(error: minijinja::Error) -> Self {
        Self::Read(Box::new(error))
    }
}

type Checked = Result<(), Fault>;

/// Whether a text holds nothing but what a template may do.
pub(crate) fn check(text: &str) -> Checked {
    // Before it is parsed: parsing goes as deep as the text says.
    let (mut length, mut elifs) = (0, 0);
    for token in tokenize(text, false, SyntaxConfig::default()) {
        let (token, span) = token?;
        length = match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => 0,
            _ => length + 1,
        };
        elifs += usize::from(matches!(token, Token::Ident("elif")));
        // Tokens of one `{{ … }}` or `{% … %}`: the engine goes as deep as an expression is long.
        if length > 200 {
            return Err(Fault::Does(span.start_line.into(), "hold an expression as long as this"));
        }
        if elifs > MOST_ELIFS {
            return Err(Fault::Does(span.start_line.into(), "hold as many `elif`s as this"));
        }
    }
    statement(&parse(text, "", SyntaxConfig::default())?)
}

fn all(body: &[Stmt<'_>]) -> Checked {
    body.iter().try_for_each(statement)
}

fn statement(statement: &Stmt<'_>) -> Checked {
    match statement {
        Stmt::Template(it) => all(&it.children),
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(it) => expression(&it.expr),
        Stmt::ForLoop(it) => {
            if it.recursive {
                return Err(Fault::Does(it.span().start_line.into(), "call itself"));
            }
            name(&it.target)?;
            expression(&it.iter)?;
            it.filter_expr.as_ref().map_or(Ok(()), expression)?;
            all(&it.body)?;
            all(&it.else_body)
        }
        Stmt::IfCond(it) => {
            expression(&it.expr)?;
            all(&it.true_body)?;
            all(&it.false_body)
        }
        Stmt::WithBlock(it) => {
            for (target, value) in &it.assignments {
                name(target)?;
                expression(value)?;
            }
            all(&it.body)
        }
        Stmt::Set(it) => {
            name(&it.target)?;
            expression(&it.expr)
        }
        Stmt::SetBlock(it) => Err(Fault::Does(it.span().start_line.into(), "keep what it prints")),
        Stmt::AutoEscape(it) => Err(Fault::Does(it.span().start_line.into(), "change how values are escaped")),
        Stmt::FilterBlock(it) => Err(Fault::Does(it.span().start_line.into(), "keep what it prints")),
        Stmt::Do(it) => Err(Fault::Does(it.span().start_line.into(), "call anything")),
    }
}

/// What a value is bound to.
fn name(expression: &Expr<'_>) -> Checked {
    match expression {
        Expr::Var(_) => Ok(()),
        other => Err(Fault::Does(other.span().start_line.into(), "take values apart")),
    }
}

fn expression(expr: &Expr<'_>) -> Checked {
    let may_not = |what| Err(Fault::Does(expr.span().start_line.into(), what));
    match expr {
        Expr::Var(_) | Expr::Const(_) => Ok(()),
        Expr::UnaryOp(it) => match it.op {
            UnaryOpKind::Not => expression(&it.expr),
            UnaryOpKind::Neg => may_not("join or compute values"),
        },
        Expr::BinOp(it) => {
            match it.op {
                BinOpKind::ScAnd | BinOpKind::ScOr | BinOpKind::Eq | BinOpKind::Ne => {}
                BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {}
                BinOpKind::In => return may_not("search in values"),
                BinOpKind::Add
                | BinOpKind::Sub
                | BinOpKind::Mul
                | BinOpKind::Div
                | BinOpKind::FloorDiv
                | BinOpKind::Rem
                | BinOpKind::Pow
                | BinOpKind::Concat => return may_not("join or compute values"),
            }
            expression(&it.left)?;
            expression(&it.right)
        }
        Expr::Compare(it) => {
            expression(&it.expr)?;
            it.ops.iter().try_for_each(|op| match op.op {
                CompareOpKind::In | CompareOpKind::NotIn => may_not("search in values"),
                CompareOpKind::Eq
                | CompareOpKind::Ne
                | CompareOpKind::Lt
                | CompareOpKind::Lte
                | CompareOpKind::Gt
                | CompareOpKind::Gte => expression(&op.expr),
            })
        }
        Expr::IfExpr(it) => {
            expression(&it.test_expr)?;
            expression(&it.true_expr)?;
            it.false_expr.as_ref().map_or(Ok(()), expression)
        }
        Expr::Filter(it) if FILTERS.contains(&it.name) => {
            it.expr.as_ref().map_or(Ok(()), expression)?;
            arguments(&it.args)
        }
        Expr::Filter(_) => may_not("use this filter"),
        Expr::Test(it) if TESTS.contains(&it.name) => {
            expression(&it.expr)?;
            arguments(&it.args)
        }
        Expr::Test(_) => may_not("use this test"),
        Expr::GetAttr(it) => expression(&it.expr),
        Expr::GetItem(it) => {
            expression(&it.expr)?;
            expression(&it.subscript_expr)
        }
        Expr::Call(_) => may_not("call anything"),
        Expr::Slice(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => {
            may_not("make lists of its own, or parts of values")
        }
    }
}

fn arguments(arguments: &[CallArg<'_>]) -> Checked {
    arguments.iter().try_for_each(|argument| match argument {
        CallArg::Pos(expr) | CallArg::Kwarg(_, expr) => expression(expr),
        CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
            Err(Fault::Does(expr.span().start_line.into(), "take values apart"))
        }
    })
}
